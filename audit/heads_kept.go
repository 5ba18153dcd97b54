package audit

import (
	"context"

	"netsim/events"
)

// KeptNewest is the number of newest checkpoints whose heads are kept.
const KeptNewest = 14

// KeptHeads returns the digests of the indexes of heads that are kept: those of the
// newest 14 checkpoints in the log and of the first checkpoint of every month, UTC. It
// ignores checkpoints that do not verify with the verifier's key or the keys that
// successions prove from it.
func (l *Log) KeptHeads(ctx context.Context, verifier string) ([]events.Hash, error) {
	notes, err := l.checkpoints(ctx)
	if err != nil {
		return nil, err
	}
	var made []Checkpoint
	m, err := l.history(ctx)
	if err != nil {
		return nil, err
	}
	keys := l.ring(notes, verifier, m)
	for _, n := range notes {
		if c, err := keys.open(n.note); err == nil && c.Heads != (events.Hash{}) {
			made = append(made, c)
		}
	}
	var kept []events.Hash
	month := ""
	for i, c := range made {
		first := c.Time.UTC().Format("2006-01") != month
		month = c.Time.UTC().Format("2006-01")
		if first || i >= len(made)-KeptNewest {
			kept = append(kept, c.Heads)
		}
	}
	return kept, nil
}
