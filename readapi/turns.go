package readapi

import (
	"context"
	"fmt"
	"sync"
	"time"

	"netsim/fault"
)

// Turns bounds how many long files of a kind a process writes at a time: some in all, and
// one of each account. The zero value is ready.
type Turns struct {
	Wait time.Duration // how long a request waits for another file to end

	mu      sync.Mutex
	writing map[string]bool // accounts, "" for the whole platform
	freed   chan struct{}   // closed when the next one ends
}

const (
	turnsAtOnce = 4
	turnRetry   = 10 * time.Second
)

// begin waits until the file of an account may be written, and returns what ends it. The
// error, which calls the file what it is, is RateLimited while another one of the account is
// written, and Unavailable while those of others are.
func (t *Turns) begin(ctx context.Context, what, account string) (end func(), err error) {
	late := time.NewTimer(t.Wait)
	defer late.Stop()
	for {
		freed, own := t.take(account)
		if freed == nil {
			return sync.OnceFunc(func() { t.release(account) }), nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-late.C:
			refusal := fault.Fault{Code: fault.Unavailable, Message: fmt.Sprintf("other accounts have all turns to write a %s", what), RetryAfter: turnRetry}
			if own {
				refusal.Code, refusal.Message = fault.RateLimited, fmt.Sprintf("a %s of %s is being written already", what, whose(account))
			}
			return nil, &refusal
		}
	}
}

func whose(account string) string {
	if account == "" {
		return "every account"
	}
	return "account " + account
}

// take takes the account's turn. If that is not possible now, it returns what is closed when
// it may be, and whether the account itself is the reason.
func (t *Turns) take(account string) (freed <-chan struct{}, own bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.writing == nil {
		t.writing, t.freed = map[string]bool{}, make(chan struct{})
	}
	if t.writing[account] || len(t.writing) >= turnsAtOnce {
		return t.freed, t.writing[account]
	}
	t.writing[account] = true
	return nil, false
}

func (t *Turns) release(account string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.writing, account)
	close(t.freed)
	t.freed = make(chan struct{})
}
