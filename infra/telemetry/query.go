package telemetry

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	queryTimeout = 2 * time.Second         // of a question
	scrapeWait   = 2500 * time.Millisecond // of a scrape for a question that ignores its timeout
	queryAge     = 5 * time.Second         // for which an answer or a failure counts
)

// query keeps the answer to a question for queryAge. One question is under way
// at a time, however often it is scraped and however long it hangs.
type query struct {
	ask    func(context.Context) ([]prometheus.Metric, error)
	failed func()
	now    func() time.Time

	mu     sync.Mutex
	asked  time.Time     // when the last question ended; zero before the first
	under  chan struct{} // closed when the question under way ends; nil when none is
	answer []prometheus.Metric
}

// samples returns the answer, and nothing when there is none in time.
func (q *query) samples() []prometheus.Metric {
	q.mu.Lock()
	if q.under == nil && (q.asked.IsZero() || q.now().Sub(q.asked) >= queryAge) {
		q.under = make(chan struct{})
		go q.run()
	}
	under := q.under
	q.mu.Unlock()
	if under != nil {
		enough := time.NewTimer(scrapeWait)
		defer enough.Stop()
		select {
		case <-under:
		case <-enough.C:
			q.failed()
			return nil
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.answer
}

func (q *query) run() {
	ctx, cancel := context.WithTimeout(context.Background(), queryTimeout)
	defer cancel()
	answer, err := q.ask(ctx)
	if err != nil {
		answer = nil
		q.failed()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.answer, q.asked = answer, q.now()
	close(q.under)
	q.under = nil
}
