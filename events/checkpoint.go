package events

// CheckpointPublished records a signed log checkpoint: the end of every partition,
// the digest of its facts, the digest of the heads of all streams, and the root of the
// Merkle tree over the chains of the billing streams. Source: completions 8 row 48; package audit has the format.
type CheckpointPublished struct {
	Name string `json:"name"` // the day that ended, YYYY-MM-DD, or an operator's name for it
	Note string `json:"note"` // the whole signed note
}

func (CheckpointPublished) EventType() string { return "netsim.checkpoint.published.v1" }
