package uploads

// ClearUpload is the job that removes the staged objects of an upload that has ended.
type ClearUpload struct {
	UploadID string `json:"uploadId"`
}

// Kind returns the name under which the job is stored.
func (ClearUpload) Kind() string { return "clear_upload" }

// ExpireUploads is the job that aborts expired uploads.
type ExpireUploads struct{}

// Kind returns the name under which the job is stored.
func (ExpireUploads) Kind() string { return "expire_uploads" }
