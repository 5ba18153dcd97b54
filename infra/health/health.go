// Package health says whether a process can serve. A process has one list of
// checks, which both the operations listener and the API answer from.
//
// A report takes at most Timeout, whatever the parts do: probes run at the same
// time, one that does not end is reported as failed, and it is not started
// again before it has ended. So a part that hangs costs one goroutine, however
// often it is asked for.
package health

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Timeout bounds a report. Its askers are promised an answer within two
// seconds.
const Timeout = 1500 * time.Millisecond

// Status is the result of a check.
type Status string

// The results of a check.
const (
	Pass Status = "pass"
	Warn Status = "warn" // it works, and needs attention
	Fail Status = "fail"
)

// Overall is the result of all checks.
type Overall string

// The results of all checks.
const (
	Ready       Overall = "ready"
	Degraded    Overall = "degraded"    // a check warns, or one fails that is not required
	Unavailable Overall = "unavailable" // a required check fails
)

// State is what a probe finds. The zero value is a part that works.
type State struct {
	Err        error    // the part fails; operators see why, clients do not
	Message    string   // that clients see: what fails, or without Err what needs attention
	LagRecords *int64   // of projections: records of the log that are not applied
	LagSeconds *float64 // of projections: age of the oldest of them, 0 without any; nil when it is not known
}

// Failed is the state of a part that fails. Clients see only that it does not
// answer.
func Failed(err error) State { return State{Err: err} }

// Check is one part that a process needs.
type Check struct {
	Name     string
	Required bool // the process is unavailable while it fails, otherwise degraded
	Probe    func(context.Context) State
}

// Result is a check and what its probe found.
type Result struct {
	Name     string
	Required bool
	Status   Status
	Latency  time.Duration
	State
}

// Report is what all checks found, in the order in which they were added.
type Report struct {
	Status  Overall
	Results []Result
}

// Checks is the list of a process. The zero value is empty and ready to use; it
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

// Report runs all probes and returns what they found within Timeout.
func (c *Checks) Report(ctx context.Context) Report {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	c.mu.Lock()
	all := c.all[:len(c.all):len(c.all)]
	c.mu.Unlock()
	report := Report{Status: Ready, Results: make([]Result, len(all))}
	var asked sync.WaitGroup
	for i, p := range all {
		asked.Go(func() { report.Results[i] = p.ask(ctx) })
	}
	asked.Wait()
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

// probing is a check and its probe under way, if there is one.
type probing struct {
	Check
	mu    sync.Mutex
	under *run
}

// run is one run of a probe. Its state is written before done is closed.
type run struct {
	done  chan struct{}
	state State
}

func (p *probing) ask(ctx context.Context) Result {
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

// start joins the run under way or begins one. A run belongs to nobody: it
// outlives an asker that goes away.
func (p *probing) start(ctx context.Context) *run {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.under != nil {
		return p.under
	}
	r := &run{done: make(chan struct{})}
	p.under = r
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Timeout)
		defer cancel()
		r.state = p.Probe(ctx)
		p.mu.Lock()
		p.under = nil
		p.mu.Unlock()
		close(r.done)
	}()
	return r
}
