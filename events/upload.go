package events

import "time"

// uploadEvents lists the events of uploads.
func uploadEvents() []entry {
	return []entry{
		of[UploadOpened](),
		of[UploadCompleted](),
		of[UploadAborted](),
	}
}

// The kinds of uploads.
const (
	UploadTraceset    = "traceset"
	UploadMappingFile = "mapping_file"
)

// UploadOpened records that a client may upload the files of a traceset, or a
// mapping file, in parts. Source: completions 6.2, 8 row 30.
type UploadOpened struct {
	Kind        string       `json:"kind"` // traceset or mapping_file
	AccountID   string       `json:"accountId"`
	WorkspaceID string       `json:"workspaceId"`
	ResultID    string       `json:"resultId"` // of the future traceset or mapping file
	Name        string       `json:"name"`
	Description string       `json:"description,omitempty"`
	Tags        []string     `json:"tags,omitempty"`
	TTLDays     int64        `json:"ttlDays,omitempty"`          // of a traceset
	Workload    string       `json:"workloadMetadata,omitempty"` // canonical JSON text
	Files       []UploadFile `json:"files"`
	ExpiresAt   time.Time    `json:"expiresAt"`
}

// UploadFile is a file of an upload session.
type UploadFile struct {
	Name        string `json:"name"`
	ContentType string `json:"contentType"`
	Role        string `json:"role,omitempty"` // primary or supporting; only for a traceset
	Size        int64  `json:"size"`           // bytes; for a mapping file, the maximum
	Parts       int64  `json:"parts"`          // how many part links are issued
	ObjectKey   string `json:"objectKey"`      // where it is staged
	StoreID     string `json:"storeId"`        // the object store's id of the multipart upload
}

// UploadCompleted records that all files of an upload are stored and accepted, even
// if their content was already stored.
type UploadCompleted struct {
	ResultID    string         `json:"resultId"`              // the traceset or mapping file
	DuplicateOf string         `json:"duplicateOf,omitempty"` // equals resultId; set if the content was already stored
	Files       []UploadedFile `json:"files"`
}

// UploadedFile is a file that was uploaded.
type UploadedFile struct {
	Name string `json:"name"`
	Hash string `json:"hash"` // sha256: and hex, or crc64nvme: and base64url
	Size int64  `json:"size"` // bytes
}

// UploadAborted records that an upload ended without a result.
type UploadAborted struct {
	Reason string `json:"reason"` // expired, refused, storage, workspace or deleted
}

func (UploadOpened) EventType() string    { return "netsim.upload.opened.v1" }
func (UploadCompleted) EventType() string { return "netsim.upload.completed.v1" }
func (UploadAborted) EventType() string   { return "netsim.upload.aborted.v1" }
