package telemetry

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	queryTimeout = 2 * time.Second
	scrapeWait   = 2500 * time.Millisecond // longest wait of a scrape, in case a query ignores its timeout
	queryAge     = 5 * time.Second         // how long a result, or a failure, is cached
)

// query caches the result of a query for queryAge. At most one run is in progress at
// a time, even if it hangs or several scrapes wait for it.
type query struct {
	run    func(context.Context) ([]prometheus.Metric, error)
	failed func()
	now    func() time.Time

	mu     sync.Mutex
	ended  time.Time     // end of the last run; zero before the first
	done   chan struct{} // closed when the current run ends; nil if there is none
	result []prometheus.Metric
}

// samples returns the cached result, or waits for a run. It returns nil if the run
// fails or takes longer than scrapeWait.
func (q *query) samples() []prometheus.Metric {
	q.mu.Lock()
	if q.done == nil && (q.ended.IsZero() || q.now().Sub(q.ended) >= queryAge) {
		q.done = make(chan struct{})
		go q.renew()
	}
	done := q.done
	q.mu.Unlock()
	if done != nil {
		timeout := time.NewTimer(scrapeWait)
		defer timeout.Stop()
		select {
		case <-done:
		case <-timeout.C:
			q.failed()
			return nil
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.result
}

func (q *query) renew() {
	ctx, cancel := context.WithTimeout(context.Background(), queryTimeout)
	defer cancel()
	result, err := q.run(ctx)
	if err != nil {
		result = nil
		q.failed()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.result, q.ended = result, q.now()
	close(q.done)
	q.done = nil
}
