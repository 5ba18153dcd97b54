package telemetry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// pipe is what a log is written to. It takes nothing while it is held.
type pipe struct {
	hold sync.Mutex

	mu     sync.Mutex
	text   bytes.Buffer
	writes int
}

func (p *pipe) Write(lines []byte) (int, error) {
	p.hold.Lock()
	defer p.hold.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writes++
	return p.text.Write(lines)
}

// lines returns the lines that were written, and in how many writes.
func (p *pipe) lines(t *testing.T) (lines []map[string]any, writes int) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for text := range strings.Lines(p.text.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("line %q: %v", text, err)
		}
		lines = append(lines, line)
	}
	return lines, p.writes
}

func queued(t *testing.T, to *pipe) (*slog.Logger, func()) {
	t.Helper()
	log, stop, err := NewQueuedLog(to, "json", slog.LevelInfo)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return log, stop
}

func TestAQueuedLogKeepsEveryLineInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		to := &pipe{}
		log, stop := queued(t, to)
		const writers, each = 8, 100
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				for n := range each {
					level := slog.LevelInfo + slog.Level(4*(n%3)) // warnings and errors too
					log.Log(t.Context(), level, "request", "writer", w, "n", n)
				}
			})
		}
		all.Wait()
		log.Info("Bearer eyJhbGciOiJFUzI1NiJ9.hush")
		log.Info("last")
		stop()
		log.Info("after the end")

		lines, writes := to.lines(t)
		if len(lines) != writers*each+3 || lines[len(lines)-2]["msg"] != "last" || lines[len(lines)-1]["msg"] != "after the end" {
			t.Fatalf("%d lines, the last %v", len(lines), lines[len(lines)-1])
		}
		if writes > 2 {
			t.Errorf("%d writes, want one until the end and one after it", writes)
		}
		next := map[any]float64{}
		for _, l := range lines[:writers*each] {
			if l["n"] != next[l["writer"]] {
				t.Fatalf("line %v of writer %v comes when %v is next", l["n"], l["writer"], next[l["writer"]])
			}
			next[l["writer"]]++
		}
		if strings.Contains(fmt.Sprint(lines), "hush") {
			t.Error("a credential is shown")
		}
	})
}

// TestAQueuedLogDoesNotWait: while nothing takes the lines, logging goes on. Lines
// that do not fit are dropped, and their number is logged.
func TestAQueuedLogDoesNotWait(t *testing.T) {
	t.Parallel()
	to := &pipe{}
	to.hold.Lock()
	log, stop := queued(t, to)
	text := strings.Repeat("x", 1<<10)
	const sent = 2 * maxQueued >> 10
	for range sent {
		log.Info("request", "text", text)
	}
	to.hold.Unlock()
	stop()

	lines, _ := to.lines(t)
	written, dropped, notices := 0, 0.0, 0
	for _, l := range lines {
		if l["msg"] == "request" {
			written++
			continue
		}
		notices++
		lines, _ := l["lines"].(float64)
		dropped += lines
	}
	if notices < 1 || notices > 2 || written == 0 || written+int(dropped) != sent {
		t.Errorf("%d lines of %d written, %v dropped in %d notices", written, sent, dropped, notices)
	}
}
