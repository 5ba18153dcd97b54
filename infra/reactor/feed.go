package reactor

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"

	"netsim/infra/facts"
	"netsim/infra/wait"
)

// feed is the subscription of a handler: a message.Subscriber that gives the
// router many facts of all its partitions at once. It lives as long as the router,
// and the sessions of the process send to it.
type feed struct {
	handler
	reader *facts.Reader
	out    chan *message.Message
	flight chan struct{} // holds a value for each message that is with the router
	close  sync.Once
}

func newFeed(h handler, reader *facts.Reader) *feed {
	return &feed{handler: h, reader: reader, out: make(chan *message.Message), flight: make(chan struct{}, h.inFlight)}
}

// Subscribe implements message.Subscriber. It ignores the context, which ends with the
// router, because what is under way then is awaited.
func (f *feed) Subscribe(context.Context, string) (<-chan *message.Message, error) { return f.out, nil }

// Close implements message.Subscriber. No session may be under way.
func (f *feed) Close() error {
	f.close.Do(func() { close(f.out) })
	return nil
}

// redeliverAfter is the pause before a message that was not acknowledged is
// delivered again.
const redeliverAfter = time.Second

// drive hands out a fact and the later ones of its stream, until none is left or ctx
// ends. The messages' context is life. After a dead letter it calls hurry.
func (f *feed) drive(ctx, life context.Context, w *window, s *slot, hurry func()) {
	for s != nil && ctx.Err() == nil {
		if s.fact == nil {
			again, err := f.reader.Next(ctx, f.family, w.partition, s.offset)
			if err != nil || len(again.Facts) == 0 || again.Facts[0].Offset != s.offset {
				if wait.For(ctx, redeliverAfter) != nil {
					return
				}
				continue
			}
			w.reload(s, &again.Facts[0])
		}
		done, dead := f.deliver(ctx, life, w, s)
		if !done {
			if wait.For(ctx, redeliverAfter) != nil {
				return
			}
			continue
		}
		if s = w.finish(s); dead {
			hurry()
		}
	}
}

// deliver gives the router one message, and reports whether it was acknowledged,
// and whether it is a dead letter. A message that is under way when ctx ends is
// awaited until life ends.
func (f *feed) deliver(ctx, life context.Context, w *window, s *slot) (done, dead bool) {
	select {
	case f.flight <- struct{}{}:
	case <-ctx.Done():
		return false, false
	}
	defer func() { <-f.flight }()
	w.begin(s, time.Now())
	m := messageFor(s.fact)
	m.SetContext(context.WithValue(life, factKey{}, s.fact))
	select {
	case f.out <- m:
	case <-ctx.Done():
		return false, false
	}
	select {
	case <-m.Acked():
		return true, m.Metadata.Get(middleware.ReasonForPoisonedKey) != ""
	case <-m.Nacked():
	case <-life.Done():
	}
	return false, false
}

// factKey is the key of a message's fact in its context.
type factKey struct{}

// messageFor returns a fact's record as a message: its headers and its position
// in the log.
func messageFor(f *facts.Fact) *message.Message {
	metadata := make(message.Metadata, len(f.Record.Headers)+8) // with what a dead letter adds
	for _, h := range f.Record.Headers {
		metadata[h.Key] = string(h.Value)
	}
	metadata[partitionHeader] = strconv.Itoa(int(f.Partition))
	metadata[offsetHeader] = strconv.FormatInt(f.Offset, 10)
	metadata[recordedHeader] = f.RecordedAt.UTC().Format(time.RFC3339Nano)
	metadata[middleware.CorrelationIDMetadataKey] = metadata["ce_correlationid"]
	m := message.NewMessage(metadata[idHeader], f.Record.Value)
	m.Metadata = metadata
	return m
}
