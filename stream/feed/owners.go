package feed

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"netsim/events"
	"netsim/infra/facts"
	"netsim/infra/recent"
)

// owners finds the owners of streams, which never change: in the stream's first
// fact, in a cache, or else in the read model, with one query a batch.
type owners struct {
	find func(ctx context.Context, streams []string) (map[string]Owner, error)

	mu    sync.Mutex
	known recent.Cache[string, Owner]
}

// maxKnown bounds each of the two generations of the cache of owners, about 200 bytes
// a stream.
const maxKnown = 50_000

// of returns the owner of each fact. Streams that the read model does not have belong
// to nobody: only those who see everything see them.
func (o *owners) of(ctx context.Context, all []facts.Fact) ([]Owner, error) {
	found := make([]Owner, len(all))
	var missing []string
	asked := map[string][]int{} // indices of all, by stream
	o.mu.Lock()
	for i := range all {
		owner, ok := o.knownLocked(&all[i])
		if found[i] = owner; ok {
			continue
		}
		stream := all[i].Stream
		if asked[stream] == nil {
			missing = append(missing, stream)
		}
		asked[stream] = append(asked[stream], i)
	}
	o.known.Turn(maxKnown)
	o.mu.Unlock()
	if len(missing) == 0 {
		return found, nil
	}
	read, err := o.find(ctx, missing)
	if err != nil {
		return nil, fmt.Errorf("read the owners of %d streams: %w", len(missing), err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for stream, owner := range read {
		o.known.Get(stream)
		o.known.Put(stream, owner)
		for _, i := range asked[stream] {
			found[i] = owner
		}
	}
	return found, nil
}

// knownLocked returns the owner of the fact's stream unless it has to be read.
func (o *owners) knownLocked(f *facts.Fact) (Owner, bool) {
	if owner, ok := o.known.Get(f.Stream); ok {
		return owner, true
	}
	owner, ok := ownerIn(f)
	if ok {
		o.known.Put(f.Stream, owner)
	}
	return owner, ok
}

// ownerIn returns the owner of the fact's stream if the fact has it.
func ownerIn(f *facts.Fact) (Owner, bool) {
	switch d := f.Data.(type) {
	case events.WorkspaceCreated:
		return Owner{d.AccountID, f.Stream}, true
	case events.WebhookCreated:
		return Owner{AccountID: d.AccountID}, true
	case events.ConfigurationCreated:
		return Owner{d.AccountID, d.WorkspaceID}, true
	case events.SimulationRequested:
		return Owner{d.AccountID, d.WorkspaceID}, true
	case events.TracesetCreated:
		return Owner{d.AccountID, d.WorkspaceID}, true
	case events.MappingFileCreated:
		return Owner{d.AccountID, d.WorkspaceID}, true
	case events.UploadOpened:
		return Owner{d.AccountID, d.WorkspaceID}, true
	}
	switch prefix, _, _ := strings.Cut(f.Stream, "_"); prefix {
	case events.AccountPrefix:
		return Owner{AccountID: f.Stream}, true
	case events.PlatformPrefix, events.CheckpointPrefix, events.SealPrefix, events.OperationPrefix, "":
		return Owner{}, true // nobody's
	}
	return Owner{}, false
}
