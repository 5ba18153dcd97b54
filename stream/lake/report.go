package lake

import (
	"sync"
	"time"
)

// Report says how the lake is doing, as seen by this process.
type Report struct {
	Writing      bool          // this process has the lease
	Facts        int64         // judged, and not committed
	Ahead        int64         // in the lake, and not judged: the log has lost records, or a read model is being rebuilt
	Behind       time.Duration // age of the oldest gathered fact that is not committed
	Snapshot     int64         // the last that was committed
	CommittedAt  time.Time     // zero before the first commit
	Commits      int64         // of this process, like the next ones
	Rows         int64         // facts committed
	Files        int64         // committed
	Merged       int64         // files that merges have replaced
	Deleted      int64         // files deleted
	Failures     int64
	Error        error     // of the last failure, nil since a commit
	FailingSince time.Time // of the first failure since a commit
}

// reporter gathers a Report.
type reporter struct {
	mu     sync.Mutex
	report Report
	writer *writer
}

// Report returns the present state.
func (l *Lake) Report() Report {
	l.report.mu.Lock()
	r, w := l.report.report, l.report.writer
	var at map[source]int64
	if w != nil {
		at = make(map[source]int64, len(w.at))
		for s, next := range w.at {
			at[s] = next
		}
	}
	l.report.mu.Unlock()
	if w == nil {
		return r
	}
	r.Writing = true
	for s, next := range at {
		judged := l.Judged(s.family, s.partition)
		r.Facts += max(0, judged-next)
		r.Ahead += max(0, next-judged)
	}
	for _, b := range w.buffers {
		if _, oldest := b.pending(); !oldest.IsZero() {
			r.Behind = max(r.Behind, l.Now().Sub(oldest))
		}
	}
	return r
}

func (r *reporter) hold(w *writer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writer = w
}

func (r *reporter) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writer, r.report.Error = nil, nil
}

func (r *reporter) move(s source, to int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writer.at[s] = to
}

func (r *reporter) commit(at time.Time, snapshot, rows, files int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.CommittedAt, r.report.Snapshot, r.report.Error = at, snapshot, nil
	r.report.Commits++
	r.report.Rows += rows
	r.report.Files += files
}

func (r *reporter) committed() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.report.Commits
}

func (r *reporter) fail(at time.Time, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Failures++
	if r.report.Error == nil {
		r.report.FailingSince = at
	}
	r.report.Error = err
}

func (r *reporter) count(merged, deleted int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Merged += merged
	r.report.Deleted += deleted
}
