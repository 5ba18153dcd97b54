package readapi

import (
	"context"
	"sync"
	"time"

	"netsim/fault"
)

// Bundles bounds how many bundles a process writes at a time: some in all, and one of each
// account. Each reads the log from its beginning. The zero value is ready.
type Bundles struct {
	Wait time.Duration // how long a request waits for another bundle to end

	mu      sync.Mutex
	writing map[string]bool // accounts
	freed   chan struct{}   // closed when the next one ends
}

const (
	bundlesAtOnce = 4
	bundleRetry   = 10 * time.Second
)

// begin waits until the bundle of an account may be written, and returns what ends it. The
// error is RateLimited while another one of the account is written, and Unavailable while
// those of others are.
func (b *Bundles) begin(ctx context.Context, account string) (end func(), err error) {
	late := time.NewTimer(b.Wait)
	defer late.Stop()
	for {
		freed, own := b.take(account)
		if freed == nil {
			return sync.OnceFunc(func() { b.release(account) }), nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-late.C:
			refusal := fault.Fault{Code: fault.Unavailable, Message: "other bundles are being written", RetryAfter: bundleRetry}
			if own {
				refusal.Code, refusal.Message = fault.RateLimited, "a bundle of account "+account+" is being written already"
			}
			return nil, &refusal
		}
	}
}

// take takes the account's turn. If that is not possible now, it returns what is closed when
// it may be, and whether the account itself is the reason.
func (b *Bundles) take(account string) (freed <-chan struct{}, own bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.writing == nil {
		b.writing, b.freed = map[string]bool{}, make(chan struct{})
	}
	if b.writing[account] || len(b.writing) >= bundlesAtOnce {
		return b.freed, b.writing[account]
	}
	b.writing[account] = true
	return nil, false
}

func (b *Bundles) release(account string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.writing, account)
	close(b.freed)
	b.freed = make(chan struct{})
}
