package service

import (
	"context"
	"crypto/tls"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/infra/broker"
	"netsim/infra/certs"
	"netsim/infra/doctor"
	"netsim/infra/health"
	"netsim/infra/telemetry"
)

// observeHealth queries the checks of readiness.
func (l *launch) observeHealth() {
	const ready, failing = "netsim_ready", "netsim_check_failing"
	l.metrics.Query("health", func(ctx context.Context, emit telemetry.Emit) error {
		report := l.health.Report(ctx)
		for _, role := range l.config.Roles {
			emit(ready, number(report.Status != health.Unavailable), role)
		}
		for _, r := range report.Results {
			emit(failing, number(r.Status != health.Pass), r.Name)
		}
		return nil
	}, ready, failing)
}

// number returns 1 for true and 0 for false.
func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// observeProcess samples the certificates that the process has met, its memory limit, and how
// much room its temporary files have.
func (l *launch) observeProcess() {
	const room = "netsim_temporary_free_bytes"
	l.metrics.Sample(func(emit telemetry.Emit) {
		if bytes, err := doctor.Room(os.TempDir()); err == nil {
			emit(room, float64(bytes))
		}
	}, room)
	const expiry, limit = "netsim_certificate_expiry_timestamp_seconds", "netsim_memory_limit_bytes"
	const unusable = "netsim_kafka_credential_failures_total"
	l.metrics.Sample(func(emit telemetry.Emit) {
		first := l.certificates.Report()
		if kafka := firstExpiry(l.broker.Report()); !kafka.IsZero() {
			first["kafka"] = kafka
		}
		for peer, expires := range first {
			emit(expiry, float64(expires.Unix()), peer)
		}
	}, expiry)
	l.metrics.Sample(func(emit telemetry.Emit) {
		_ = l.broker.Check() // a changed file is noticed before the next connection needs it; what is wrong is counted
		r := l.broker.Report()
		emit(unusable, float64(r.ReloadFailures), "certificates")
		emit(unusable, float64(r.TokenFailures), "token")
	}, unusable)
	l.metrics.Sample(func(emit telemetry.Emit) {
		if bytes := memoryLimit(); bytes < math.MaxInt64 {
			emit(limit, float64(bytes))
		}
	}, limit)
}

// firstExpiry returns when the first of the certificates expires that connections to
// Kafka use; the zero time if they use none.
func firstExpiry(r broker.Report) (first time.Time) {
	for _, expires := range []time.Time{r.CAUntil, r.CertUntil, r.BrokerUntil} {
		if !expires.IsZero() && (first.IsZero() || expires.Before(first)) {
			first = expires
		}
	}
	return first
}

// wrap returns a function that makes a transport report the peer's certificates.
func (l *launch) wrap(peer string) func(*http.Transport) http.RoundTripper {
	return func(t *http.Transport) http.RoundTripper { return l.certificates.Transport(peer, t) }
}

// observeCertificates makes the sessions of a pool report PostgreSQL's certificates.
func observeCertificates(seen *certs.Expiries, pool *pgxpool.Config) {
	observed := map[*tls.Config]bool{nil: true} // the fallbacks may share their settings
	observe := func(c *tls.Config) {
		if !observed[c] {
			observed[c] = true
			seen.Observe("postgres", c)
		}
	}
	observe(pool.ConnConfig.TLSConfig)
	for _, fallback := range pool.ConnConfig.Fallbacks {
		observe(fallback.TLSConfig)
	}
}

// memoryLimit returns the lowest of GOMEMLIMIT and the limits of the process's control
// groups, in bytes; math.MaxInt64 without a limit.
func memoryLimit() int64 {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return debug.SetMemoryLimit(-1) // not on Linux
	}
	return min(debug.SetMemoryLimit(-1), groupLimit("/sys/fs/cgroup", string(groups)))
}

// groupLimit returns the lowest limit of the control groups, version 1 or 2, that
// /proc/self/cgroup lists, and of those above them. In a container the listed path may
// not exist below root; then root is the container's own group.
func groupLimit(root, groups string) int64 {
	lowest := int64(math.MaxInt64)
	read := func(path string) {
		text, err := os.ReadFile(path)
		if err != nil {
			return
		}
		if bytes, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil { // "max" sets no limit
			lowest = min(lowest, bytes)
		}
	}
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		folder, file := root, "memory.max"
		switch {
		case parts[1] == "memory":
			folder, file = filepath.Join(root, "memory"), "memory.limit_in_bytes"
		case parts[1] != "":
			continue // another controller
		}
		for path := filepath.Clean("/" + parts[2]); ; path = filepath.Dir(path) {
			read(filepath.Join(folder, path, file))
			if path == "/" {
				break
			}
		}
	}
	if lowest > math.MaxInt64/2 { // version 1 writes "no limit" as a number near the greatest
		return math.MaxInt64
	}
	return lowest
}
