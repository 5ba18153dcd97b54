package events

// mappingFileEvents lists the events of mapping files.
func mappingFileEvents() []entry {
	return []entry{
		of[MappingFileCreated](),
		of[MappingFileDeleted](),
	}
}

// MappingFileCreated records a mapping file whose bytes are stored.
// Source: completions 6.5, 6.6, 8 row 39.
type MappingFileCreated struct {
	AccountID         string `json:"accountId"`
	WorkspaceID       string `json:"workspaceId"`
	Name              string `json:"name"`
	Description       string `json:"description,omitempty"`
	Hash              string `json:"hash"`        // crc64nvme: and unpadded base64url
	ContentHash       string `json:"contentHash"` // sha256: and hex
	SizeBytes         int64  `json:"sizeBytes"`
	RankCount         int64  `json:"rankCount"`
	ScaleUpGroupCount int64  `json:"scaleUpGroupCount"`
	ObjectKey         string `json:"objectKey"`
}

// MappingFileDeleted records that a mapping file was deleted. Simulations that were
// started with it keep their copy.
type MappingFileDeleted struct {
	Reason string `json:"reason"` // request or workspace
}

func (MappingFileCreated) EventType() string { return "netsim.mapping_file.created.v1" }
func (MappingFileDeleted) EventType() string { return "netsim.mapping_file.deleted.v1" }
