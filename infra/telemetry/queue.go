package telemetry

import (
	"io"
	"log/slog"
	"sync"
	"time"
)

const (
	maxQueued  = 4 << 20              // bytes of lines that wait to be written
	keptQueue  = 64 << 10             // bytes of a buffer that is used again
	queueDelay = 5 * time.Millisecond // in which lines are gathered for one write
	lastWrite  = 5 * time.Second      // longest time that the last write takes
)

// NewQueuedLog is NewLog, except that logging never waits for w: a goroutine
// writes the lines, in their order and many at a time. Lines are dropped while
// more than 4 MiB wait; then one warning says how many. A process that is killed
// loses the lines of its last milliseconds. stop writes what waits, and after it
// lines are written at once.
func NewQueuedLog(w io.Writer, format string, level slog.Leveler) (log *slog.Logger, stop func(), err error) {
	direct, err := NewLog(w, format, slog.LevelWarn)
	if err != nil {
		return nil, nil, err
	}
	q := &queue{w: w, more: make(chan struct{}, 1), stopping: make(chan struct{}), ended: make(chan struct{})}
	q.dropped = func(lines int) {
		direct.Warn("lines of this log were dropped: it is not written fast enough", "lines", lines)
	}
	if log, err = NewLog(q, format, level); err != nil {
		return nil, nil, err
	}
	go q.run()
	return log, sync.OnceFunc(q.stop), nil
}

// queue is a writer of lines that does not wait for w.
type queue struct {
	w       io.Writer
	dropped func(lines int)

	more     chan struct{} // holds one element while lines wait
	stopping chan struct{}
	ended    chan struct{}

	mu      sync.Mutex
	waiting []byte
	lost    int  // lines dropped since the last write
	stopped bool // nothing waits any more
}

// Write takes one line.
func (q *queue) Write(line []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.stopped:
		return q.w.Write(line)
	case len(q.waiting)+len(line) > maxQueued:
		q.lost++
	default:
		q.waiting = append(q.waiting, line...)
	}
	select {
	case q.more <- struct{}{}:
	default:
	}
	return len(line), nil
}

func (q *queue) run() {
	defer close(q.ended)
	var spare []byte
	for {
		select {
		case <-q.more:
		case <-q.stopping:
		}
		select {
		case <-time.After(queueDelay):
		case <-q.stopping:
			q.mu.Lock()
			defer q.mu.Unlock()
			q.write(q.waiting, q.lost)
			q.stopped = true
			return
		}
		q.mu.Lock()
		lines, lost := q.waiting, q.lost
		q.waiting, q.lost = spare, 0
		q.mu.Unlock()
		q.write(lines, lost)
		if spare = lines[:0]; cap(spare) > keptQueue {
			spare = nil
		}
	}
}

// write writes lines and how many were lost after them. It drops an error of w, which
// could be logged only to w.
func (q *queue) write(lines []byte, lost int) {
	if len(lines) > 0 {
		_, _ = q.w.Write(lines)
	}
	if lost > 0 {
		q.dropped(lost)
	}
}

func (q *queue) stop() {
	close(q.stopping)
	select {
	case <-q.ended:
	case <-time.After(lastWrite): // w does not take the lines
	}
}
