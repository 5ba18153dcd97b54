package events

// TracesetCreated records a traceset whose bytes are stored.
// Source: completions 6, 8 row 33.
type TracesetCreated struct {
	AccountID   string         `json:"accountId"`
	WorkspaceID string         `json:"workspaceId"`
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Tags        []string       `json:"tags,omitempty"`
	Format      string         `json:"format"` // simple_v1, chakra_json_v1, chakra_et_v1
	Files       []TracesetFile `json:"files"`
	LibraryHash string         `json:"libraryHash"` // 64 hex characters
	TotalSize   int64          `json:"totalSize"`   // bytes
	TTLDays     int64          `json:"ttlDays"`
	RankCount   int64          `json:"rankCount"`
	Status      string         `json:"status"` // processing, or ready for a simple submission
}

// TracesetFile is one stored file of a traceset.
type TracesetFile struct {
	Name        string `json:"name"`
	ContentType string `json:"contentType"`
	Hash        string `json:"hash"` // sha256: and hex
	Size        int64  `json:"size"` // bytes
	Role        string `json:"role"` // primary or supporting
	ObjectKey   string `json:"objectKey"`
}

// TracesetDeleted records that a traceset is gone.
type TracesetDeleted struct {
	Reason string `json:"reason"` // request, expired or workspace
}

func (TracesetCreated) EventType() string { return "netsim.traceset.created.v1" }
func (TracesetDeleted) EventType() string { return "netsim.traceset.deleted.v1" }
