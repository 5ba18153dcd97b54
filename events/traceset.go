package events

import "time"

// tracesetEvents lists the events of tracesets.
func tracesetEvents() []entry {
	return []entry{
		of[TracesetCreated](),
		of[TracesetMetadataExtracted](),
		of[TracesetMetadataFailed](),
		of[TracesetPromoted](),
		of[TracesetUsed](),
		of[TracesetDeleted](),
	}
}

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
	Status      string         `json:"status"`                     // processing, or ready for a simple submission
	Workload    string         `json:"workloadMetadata,omitempty"` // canonical JSON text
	Scope       string         `json:"scope,omitempty"`            // absent: workspace
	UploadID    string         `json:"uploadId,omitempty"`         // of the multipart upload that made it
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

// The roles of a traceset's files (completions 6.2).
const (
	RolePrimary    = "primary"    // traces of ranks
	RoleSupporting = "supporting" // everything else
)

// The layouts of a library (completions 6.4).
const (
	LayoutFiles  = "cas"    // each file under a key of its content
	LayoutFolder = "prefix" // the unpacked files in one folder
)

// TracesetMetadataExtracted records what extraction found in the files of a
// traceset. The traceset is now ready.
type TracesetMetadataExtracted struct {
	Format    string      `json:"format"`
	Layout    string      `json:"layout,omitempty"` // prefix when archives were unpacked; absent: cas
	RankCount int64       `json:"rankCount"`
	Ranges    []RankRange `json:"ranges,omitempty"`
	FileCount int64       `json:"fileCount,omitempty"` // with layout prefix: the files in the folder
	Summary   string      `json:"summary,omitempty"`   // canonical JSON text: collectives, bytes, compute time
	Warnings  []string    `json:"warnings,omitempty"`  // at most 100
}

// RankRange is the range of ranks whose traces a file has.
type RankRange struct {
	File  string `json:"file"`
	Start int64  `json:"start"`
	End   int64  `json:"end"` // inclusive
}

// TracesetMetadataFailed records that the files of a traceset cannot be used.
type TracesetMetadataFailed struct {
	Reason string `json:"reason"`
	File   string `json:"file,omitempty"`
}

// TracesetPromoted records that a traceset was made visible to a wider scope.
type TracesetPromoted struct {
	From        string   `json:"from"` // scope: workspace, tenant or public
	To          string   `json:"to"`
	Description string   `json:"description,omitempty"`      // absent: unchanged
	Tags        []string `json:"tags,omitempty"`             // absent: unchanged
	Workload    string   `json:"workloadMetadata,omitempty"` // absent: unchanged
}

// TracesetUsed records a use of a traceset, which postpones its expiry. At most one
// an hour is recorded.
type TracesetUsed struct {
	Use       string    `json:"use"` // download, resolve, attach or simulation
	ExpiresAt time.Time `json:"expiresAt"`
}

// TracesetDeleted records that a traceset was deleted.
type TracesetDeleted struct {
	Reason string `json:"reason"` // request, expired or workspace
}

func (TracesetCreated) EventType() string           { return "netsim.traceset.created.v1" }
func (TracesetMetadataExtracted) EventType() string { return "netsim.traceset.metadata_extracted.v1" }
func (TracesetMetadataFailed) EventType() string    { return "netsim.traceset.metadata_failed.v1" }
func (TracesetPromoted) EventType() string          { return "netsim.traceset.promoted.v1" }
func (TracesetUsed) EventType() string              { return "netsim.traceset.used.v1" }
func (TracesetDeleted) EventType() string           { return "netsim.traceset.deleted.v1" }
