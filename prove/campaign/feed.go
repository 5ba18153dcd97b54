package main

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// follower follows the feed of an account from the start of the campaign, through
// whichever process answers, and resumes at its last position.
type follower struct {
	*client

	since string

	mu       sync.Mutex
	position string
	streams  map[string]int // the last sequence, by stream
	events   int
	resumed  int
}

func newFollower(c *client) *follower {
	return &follower{client: c, since: time.Now().UTC().Add(-time.Minute).Format(time.RFC3339), streams: map[string]int{}}
}

// follow reads the feed until the context ends.
func (f *follower) follow(ctx context.Context) {
	for ctx.Err() == nil {
		f.read(ctx)
		f.mu.Lock()
		f.resumed++
		f.mu.Unlock()
		f.think(ctx, 300*time.Millisecond)
	}
}

func (f *follower) read(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	base := f.apis[f.random.IntN(len(f.apis))]
	query := url.Values{"since": {f.since}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/api/v1/events?"+query.Encode(), nil)
	if err != nil {
		panic(err)
	}
	r.Header.Set("Authorization", "Bearer "+f.token)
	r.Header.Set("Accept", "application/x-ndjson")
	if f.position != "" {
		r.Header.Set("Last-Event-ID", f.position)
	}
	got, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return
	}
	defer got.Body.Close() //nolint:errcheck // it is read until its end
	if got.StatusCode != http.StatusOK {
		if got.StatusCode < 500 && got.StatusCode != http.StatusTooManyRequests {
			f.violate("the feed of %s was answered with %d", f.account, got.StatusCode)
		}
		return
	}
	// A process that is suspended, or that lost its servers, sends nothing, not even
	// its position.
	quiet := time.AfterFunc(20*time.Second, cancel)
	defer quiet.Stop()
	lines := bufio.NewScanner(got.Body)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		quiet.Reset(20 * time.Second)
		if !f.take(lines.Bytes()) {
			return
		}
	}
}

// take judges one line. It reports false at the end of the feed.
func (f *follower) take(line []byte) bool {
	var e struct{ Type, Subject, Sequence, Position string }
	if json.Unmarshal(line, &e) != nil {
		return false // the connection broke within the line
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Position != "" {
		f.position = e.Position
	}
	switch e.Type {
	case "netsim.feed.position":
		return true
	case "netsim.feed.ended":
		return false
	}
	number, err := strconv.Atoi(e.Sequence)
	if last := f.streams[e.Subject]; err != nil || number != last+1 && (last > 0 || number > 1 && f.madeHere(e.Subject)) {
		f.violate("the feed of %s has sequence %s of %s after %d", f.account, e.Sequence, e.Subject, last)
	}
	f.streams[e.Subject] = number
	f.events++
	return true
}

// madeHere reports whether the stream began after the feed.
func (f *follower) madeHere(stream string) bool {
	f.made.mu.Lock()
	defer f.made.mu.Unlock()
	return f.made.all[stream] != nil
}

// violate records a violation that the feed shows.
func (f *follower) violate(format string, args ...any) { f.violateAs("feeds", format, args...) }

// received returns how many events the feed had.
func (f *follower) received() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.events
}

// missing returns the streams of which the feed lacks facts.
func (f *follower) missing(all facts) (streams []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, last := range f.streams {
		if last != len(all[id]) {
			streams = append(streams, id)
		}
	}
	return streams
}
