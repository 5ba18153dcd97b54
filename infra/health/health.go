// Package health reports whether a process can do its work. A process has one
// list of checks; the operations listener and the API both answer from it.
//
// A report takes at most Timeout. The probes run concurrently. A probe that has
// not returned by then is reported as failed, and is not started again until it
// returns, so a probe that hangs costs one goroutine however often a report is
// requested.
package health

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Timeout bounds a report. Clients are promised an answer within two seconds.
const Timeout = 1500 * time.Millisecond

// Status is the result of a check.
type Status string

// The results of a check.
const (
	Pass Status = "pass"
	Warn Status = "warn" // the part works but needs attention
	Fail Status = "fail"
)

// Overall is the result of all checks.
type Overall string

// The results of all checks.
const (
	Ready       Overall = "ready"
	Degraded    Overall = "degraded"    // a check warns, or a check that is not required fails
	Unavailable Overall = "unavailable" // a required check fails
)

// State is the result of a probe. The zero value means that the part works.
type State struct {
	Err        error    // not nil if the part fails; shown to operators, not to clients
	Message    string   // shown to clients: what fails, or what needs attention if Err is nil
	LagRecords *int64   // projections only: records of the log that are not applied yet
	LagSeconds *float64 // projections only: age of the oldest of them, 0 if there is none, nil if unknown
}

// Failed returns the state of a part that fails with err. Clients see only that it
// does not answer.
func Failed(err error) State { return State{Err: err} }

// Check is a part that a process needs, and how to probe it.
type Check struct {
	Name     string
	Required bool // a failure makes the process unavailable; otherwise degraded
	Probe    func(context.Context) State
}

// Result is the outcome of a check.
type Result struct {
	Name     string
	Required bool
	Status   Status
	Latency  time.Duration
	State
}

// Report has the results of all checks, in the order in which they were added.
type Report struct {
	Status  Overall
	Results []Result
}

// Checks is the list of checks of a process. The zero value is an empty list. It
// is safe for concurrent use.
type Checks struct {
	mu  sync.Mutex
	all []*probing
}

// Add adds checks to the list.
func (c *Checks) Add(checks ...Check) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, check := range checks {
		c.all = append(c.all, &probing{Check: check})
	}
}

// Report runs all probes and returns their results within Timeout.
func (c *Checks) Report(ctx context.Context) Report {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	c.mu.Lock()
	all := c.all[:len(c.all):len(c.all)]
	c.mu.Unlock()
	report := Report{Status: Ready, Results: make([]Result, len(all))}
	var probes sync.WaitGroup
	for i, p := range all {
		probes.Go(func() { report.Results[i] = p.result(ctx) })
	}
	probes.Wait()
	for _, r := range report.Results {
		switch {
		case r.Status == Fail && r.Required:
			report.Status = Unavailable
		case r.Status != Pass && report.Status == Ready:
			report.Status = Degraded
		}
	}
	return report
}

// probing is a check and the current run of its probe.
type probing struct {
	Check
	mu      sync.Mutex
	current *run // nil while the probe does not run
}

// run is one run of a probe. state is valid once done is closed.
type run struct {
	done  chan struct{}
	state State
}

// result waits for a run of the probe, at most until ctx ends.
func (p *probing) result(ctx context.Context) Result {
	began := time.Now()
	r := p.start(ctx)
	result := Result{Name: p.Name, Required: p.Required, Status: Pass}
	select {
	case <-r.done:
		result.State = r.state
	case <-ctx.Done():
		result.State = Failed(fmt.Errorf("no answer within %v", Timeout))
	}
	result.Latency = time.Since(began)
	switch {
	case result.Err != nil:
		result.Status = Fail
		if result.Message == "" {
			result.Message = "it does not answer"
		}
	case result.Message != "":
		result.Status = Warn
	}
	return result
}

// start returns the current run of the probe, or starts one. Several reports can
// wait for one run, so it does not end with the context of any of them.
func (p *probing) start(ctx context.Context) *run {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current != nil {
		return p.current
	}
	r := &run{done: make(chan struct{})}
	p.current = r
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Timeout)
		defer cancel()
		r.state = p.Probe(ctx)
		p.mu.Lock()
		p.current = nil
		p.mu.Unlock()
		close(r.done)
	}()
	return r
}
