// Package doctor examines the components that the service depends on, and says of each
// check what it found and what to do. It changes nothing that lasts: it stores files of a
// few bytes in the object store, fills a temporary table, and makes an empty temporary
// file, and deletes them.
//
// Checks of different components run at the same time, those of one component one after
// the other. Every check is bounded by a timeout, so a component that hangs delays the
// examination by at most that time.
package doctor

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Status is the result of a check.
type Status string

// The results of a check.
const (
	OK      Status = "ok"
	Warn    Status = "warn"    // the service works, but the operator should know
	Fail    Status = "fail"    // the service, or a part of it, does not work
	Skipped Status = "skipped" // could not be checked, because an earlier check failed
)

// Result is what a check found.
type Result struct {
	Status  Status
	Finding string
	Advice  string // what to do; "" for OK
}

// Check is one examination of a component.
type Check struct {
	Component string
	Name      string
	// Gate skips the later checks of the component if this one fails.
	Gate bool
	Run  func(ctx context.Context) Result
}

// Row is the result of a check as it is shown.
type Row struct {
	Component string `json:"component"`
	Check     string `json:"check"`
	Status    Status `json:"status"`
	Finding   string `json:"finding"`
	Advice    string `json:"advice"`
}

// Good returns the result of a check that found nothing wrong.
func Good(format string, args ...any) Result {
	return Result{Status: OK, Finding: fmt.Sprintf(format, args...)}
}

// Warning returns the result of a check after which the service works, but the operator
// should know or do something.
func Warning(advice, format string, args ...any) Result {
	return Result{Status: Warn, Finding: fmt.Sprintf(format, args...), Advice: advice}
}

// Failure returns the result of a check that found something without which the service, or
// a part of it, does not work.
func Failure(advice, format string, args ...any) Result {
	return Result{Status: Fail, Finding: fmt.Sprintf(format, args...), Advice: advice}
}

// Examine runs the checks, each for at most the timeout, and returns a row for each of
// them, in their order.
func Examine(ctx context.Context, checks []Check, timeout time.Duration) []Row {
	rows := make([]Row, len(checks))
	components := map[string][]int{} // the indexes of the checks
	for i, c := range checks {
		components[c.Component] = append(components[c.Component], i)
	}
	var all sync.WaitGroup
	for _, indexes := range components {
		all.Go(func() {
			failed := ""
			for _, i := range indexes {
				c := checks[i]
				result := Result{Status: Skipped, Finding: fmt.Sprintf("not checked, because the check %q failed", failed)}
				if failed == "" {
					result = bounded(ctx, c, timeout)
				}
				if c.Gate && result.Status == Fail {
					failed = c.Name
				}
				rows[i] = Row{c.Component, c.Name, result.Status, result.Finding, result.Advice}
			}
		})
	}
	all.Wait()
	return rows
}

// bounded runs a check, and does not wait for it longer than the timeout: not every
// client library obeys a context.
func bounded(ctx context.Context, c Check, timeout time.Duration) Result {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	done := make(chan Result, 1)
	go func() { done <- c.Run(ctx) }()
	select {
	case result := <-done:
		return result
	case <-ctx.Done():
	}
	select {
	case result := <-done: // it reports its own timeout
		return result
	case <-time.After(lateness):
		return Failure("find out why it hangs: it may be overloaded, or a firewall drops its packets", "no result within %v", timeout)
	}
}

// lateness is how long a check may take to report that its context has ended.
const lateness = 200 * time.Millisecond

// Worst returns the worst status of the rows: Fail, Warn or OK.
func Worst(rows []Row) Status {
	worst := OK
	for _, r := range rows {
		switch {
		case r.Status == Fail:
			return Fail
		case r.Status == Warn:
			worst = Warn
		}
	}
	return worst
}
