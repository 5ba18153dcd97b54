package archive

import (
	"context"
	"slices"

	"netsim/fault"
	"netsim/infra/eventlog"
)

// continues refuses a log that is not the one in the archive.
func (a *Archiver) continues(ctx context.Context, d eventlog.Description) error {
	if a.note == nil {
		a.last.Cluster = d.ClusterID
	}
	if a.last.Cluster != d.ClusterID {
		return fault.New(fault.Conflict, "the archive is of the log in cluster %s, this is cluster %s: use another target", a.last.Cluster, d.ClusterID)
	}
	for _, was := range a.last.Topics {
		i := slices.IndexFunc(d.Topics, func(t eventlog.Topic) bool { return t.Family == was.Family })
		switch {
		case i < 0:
			return fault.New(fault.Conflict, "the log has no topic of %s any more", was.Family)
		case d.Topics[i].ID != was.ID:
			return fault.New(fault.Conflict, "the topic of %s was deleted and made again: its id is %s, the archive is of %s: use another target", was.Family, d.Topics[i].ID, was.ID)
		case int32(len(d.Topics[i].Partitions)) != was.Partitions:
			return fault.New(fault.Conflict, "the topic of %s has %d partitions, in the archive it has %d", was.Family, len(d.Topics[i].Partitions), was.Partitions)
		}
		for n, p := range d.Topics[i].Partitions {
			at := a.last.position(was.Family, int32(n))
			if p.End < at.Next {
				return fault.New(fault.Conflict, "the log lost its tail: %s/%d ends at offset %d, the archive has the records before %d: use another target", was.Family, n, p.End, at.Next)
			}
			if a.proved && p.End == at.Next {
				continue // nothing is archived
			}
			anchor, err := at.anchor(was.ID)
			if err != nil {
				return err
			}
			other, err := eventlog.Prove(ctx, a.Log, d.Topics[i].Name, int32(n), anchor)
			if err != nil {
				return err
			}
			if other != "" {
				return fault.New(fault.Conflict, "the archive is of another log: %s: use another target", other)
			}
		}
	}
	a.proved = true
	return nil
}
