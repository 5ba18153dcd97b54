package uploads

// ClearUpload is the job that removes the staged objects of an upload that has ended.
type ClearUpload struct {
	UploadID string `json:"uploadId"`
}

// Kind is its stored name.
func (ClearUpload) Kind() string { return "clear_upload" }

// ExpireUploads is the job that aborts expired uploads.
type ExpireUploads struct{}

// Kind is its stored name.
func (ExpireUploads) Kind() string { return "expire_uploads" }
