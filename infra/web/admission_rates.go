package web

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"netsim/fault"
)

// rateWindow is the window of the quotas. An account may send all requests of a
// window at once.
const rateWindow = time.Second

// rates limits the requests of accounts with the generic cell rate algorithm. For
// each account and class it stores only the time at which the whole quota is
// available again.
type rates struct {
	now func() time.Time

	mu    sync.Mutex
	whole map[rateKey]time.Time
	sweep int // number of entries at which entries in the past are removed
}

type rateKey struct {
	account string
	class   Class
}

const minSweep = 1024

func newRates(now func() time.Time) rates {
	return rates{now: now, whole: map[rateKey]time.Time{}, sweep: minSweep}
}

// take uses one of limit requests per second, and returns false if none is left. It
// also returns the rest of the quota, and how long until the quota is whole again or,
// with false, until it allows a request.
func (l *rates) take(account string, class Class, limit int64) (left fault.Quota, wait time.Duration, ok bool) {
	left = fault.Quota{Name: QuotaOf(class), Limit: max(limit, 0), Window: rateWindow}
	if limit <= 0 {
		return left, time.Minute, false
	}
	each := max(rateWindow/time.Duration(limit), 1)
	key, now := rateKey{account, class}, l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	used := max(l.whole[key].Sub(now), 0)
	if used+each > rateWindow {
		return left, used + each - rateWindow, false
	}
	if len(l.whole) >= l.sweep {
		l.sweepLocked(now)
	}
	l.whole[key] = now.Add(used + each)
	left.Remaining = min(int64((rateWindow-used-each)/each), left.Limit)
	return left, used + each, true
}

func (l *rates) sweepLocked(now time.Time) {
	for key, whole := range l.whole {
		if whole.Before(now) {
			delete(l.whole, key)
		}
	}
	l.sweep = max(minSweep, 2*len(l.whole))
}

// The names of RateLimit-Policy and RateLimit in Go's canonical form.
const (
	policyHeader = "Ratelimit-Policy"
	limitHeader  = "Ratelimit"
)

// announce sets the headers with the rest of a quota and the wait until it grows
// (draft-ietf-httpapi-ratelimit-headers-10).
func announce(h http.Header, q fault.Quota, wait time.Duration) {
	b := make([]byte, 0, 128)
	b = append(append(append(b, '"'), q.Name...), '"')
	name := len(b)
	b = strconv.AppendInt(append(b, ";q="...), q.Limit, 10)
	if q.Unit != "" {
		b = append(append(append(b, `;qu="`...), q.Unit...), '"')
	}
	if q.Window > 0 {
		b = strconv.AppendInt(append(b, ";w="...), seconds(q.Window), 10)
	}
	policy := len(b)
	b = append(b, b[:name]...)
	b = strconv.AppendInt(append(b, ";r="...), q.Remaining, 10)
	b = strconv.AppendInt(append(b, ";t="...), seconds(wait), 10)
	text := string(b)
	values := []string{text[:policy], text[policy:]}
	h[policyHeader], h[limitHeader] = values[:1:1], values[1:]
}

// seconds returns d in seconds, rounded up.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
