package events

// CheckpointPublished records that what the log held at some moment was signed:
// where every partition ended and the digest of its facts, and the root of the
// Merkle tree over the chains of the billing streams. Source: completions 8
// row 48; package audit reads and makes the note.
type CheckpointPublished struct {
	Name string `json:"name"` // the day that was over, YYYY-MM-DD, or what an operator called it
	Note string `json:"note"` // the signed note, whole
}

func (CheckpointPublished) EventType() string { return "netsim.checkpoint.published.v1" }
