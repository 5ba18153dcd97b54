package readapi

import (
	"context"
	"io"

	"netsim/stream/feed"
)

// feedBody is the body of a feed: parts that are sent one by one.
type feedBody struct {
	ctx   context.Context
	feed  *feed.Feed
	seal  positions
	one   func(dst []byte, e *feed.Entry, id string) []byte // appends a fact, or for nil a position alone
	last  func(dst []byte, reason feed.Reason, id string) []byte
	next  []byte // not read yet
	ended bool
}

func newFeedBody(ctx context.Context, f *feed.Feed, seal positions, one func([]byte, *feed.Entry, string) []byte, last func([]byte, feed.Reason, string) []byte) *feedBody {
	return &feedBody{ctx: ctx, feed: f, seal: seal, one: one, last: last}
}

// NextPart waits for the next part of the body. The error is io.EOF after the last one.
func (b *feedBody) NextPart() ([]byte, error) {
	if b.ended {
		return nil, io.EOF
	}
	part := b.next
	b.next = nil
	reason := b.feed.Next(b.ctx, func(e *feed.Entry, position []byte) {
		part = b.one(part, e, b.seal.seal(position))
	})
	if reason != "" {
		b.ended = true
		part = b.last(part, reason, b.seal.seal(b.feed.Position()))
	}
	return part, nil
}

// Read implements io.Reader.
func (b *feedBody) Read(p []byte) (int, error) {
	if len(b.next) == 0 {
		part, err := b.NextPart()
		if err != nil {
			return 0, err
		}
		b.next = part
	}
	n := copy(p, b.next)
	b.next = b.next[n:]
	return n, nil
}

// Close implements io.Closer.
func (b *feedBody) Close() error {
	b.feed.Close()
	return nil
}

// appendEvent appends a server-sent event. An id without data sets the last event id
// and is no event.
func appendEvent(dst []byte, e *feed.Entry, id string) []byte {
	dst = append(append(dst, "id: "...), id...)
	if e != nil {
		dst = append(append(dst, "\nevent: "...), e.Type...)
		dst = append(append(dst, "\ndata: "...), e.JSON...)
	} else {
		dst = append(dst, "\n: heartbeat"...)
	}
	return append(dst, "\n\n"...)
}

func appendEventEnd(dst []byte, reason feed.Reason, id string) []byte {
	dst = append(append(dst, "id: "...), id...)
	dst = append(append(dst, "\nevent: end\ndata: {\"reason\":\""...), reason...)
	return append(dst, "\"}\n\n"...)
}

// The types of lines that are no facts.
const (
	positionType = "netsim.feed.position"
	endedType    = "netsim.feed.ended"
)

// appendLine appends a line of JSON with the member position.
func appendLine(dst []byte, e *feed.Entry, id string) []byte {
	if e == nil {
		return appendMark(dst, positionType, `{}`, id)
	}
	dst = append(dst, e.JSON[:len(e.JSON)-1]...)
	dst = append(append(dst, `,"position":"`...), id...)
	return append(dst, "\"}\n"...)
}

func appendLineEnd(dst []byte, reason feed.Reason, id string) []byte {
	return appendMark(dst, endedType, `{"reason":"`+string(reason)+`"}`, id)
}

// appendMark appends a CloudEvents event that is no fact.
func appendMark(dst []byte, kind, data, id string) []byte {
	return append(dst, `{"specversion":"1.0","id":"`+id+`","source":"/netsim/feed","type":"`+kind+
		`","datacontenttype":"application/json","data":`+data+`,"position":"`+id+"\"}\n"...)
}
