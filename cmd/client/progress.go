package client

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// bar shows how far something is, on a terminal; elsewhere it is silent.
type bar struct{ shown *progressbar.ProgressBar }

const barSteps = 1000

func (s *session) bar(name string) *bar {
	if !s.Live {
		return &bar{}
	}
	return newBar(s.Err, name)
}

func newBar(w io.Writer, name string) *bar {
	return &bar{progressbar.NewOptions(barSteps,
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(name), progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(true))}
}

// show shows a state, and the part that is done, from 0 to 1.
func (b *bar) show(state string, done float64) {
	if b.shown == nil {
		return
	}
	b.shown.Describe(state)
	_ = b.shown.Set(int(barSteps * min(max(done, 0), 1)))
}

// end removes the bar. It may be called twice.
func (b *bar) end() {
	if b.shown == nil {
		return
	}
	_ = b.shown.Clear()
	b.shown = nil
}
