package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"time"
)

// A Fault says which requests are mistreated, and how.
type Fault struct {
	Name   string `json:"name"`
	Method string `json:"method"` // any if empty
	Path   string `json:"path"`   // regular expression over the path, unanchored
	Times  int    `json:"times"`  // this many requests; 1 if absent
	// Act is one of
	//   - cut-before: the connection is cut before the service has the whole request, after
	//     AfterBytes bytes of its body
	//   - cut-after: the service does its work, and the connection is cut after AfterBytes
	//     bytes of the answer's body; with 0 not even its head arrives
	//   - stall: after AfterBytes bytes of the answer's body nothing comes any more
	//   - status: the proxy answers with Status, and Retry-After if RetryAfter is set
	//   - down: for Milliseconds, open connections are cut and new requests are not answered,
	//     as while a service restarts
	Act          string `json:"act"`
	Status       int    `json:"status,omitempty"`
	Code         string `json:"code,omitempty"`       // of the error's envelope
	RetryAfter   int    `json:"retryAfter,omitempty"` // seconds
	AfterBytes   int64  `json:"afterBytes,omitempty"`
	Milliseconds int    `json:"milliseconds,omitempty"`
	// ClockSkew is added to the clock that the answer of act status shows: its Date, and its
	// Retry-After, which is then a date.
	ClockSkew int `json:"clockSkew,omitempty"` // seconds

	path *regexp.Regexp
}

func (f *Fault) check() (err error) {
	switch f.Act {
	case "cut-before", "cut-after", "stall", "down":
	case "status":
		if f.Status < 400 || f.Status > 599 {
			return fmt.Errorf("status is %d; it must be 400 to 599", f.Status)
		}
	default:
		return fmt.Errorf("act is %q; it must be cut-before, cut-after, stall, status or down", f.Act)
	}
	f.Times = max(f.Times, 1)
	f.path, err = regexp.Compile(f.Path)
	return err
}

// faults are those that are armed, in their order.
type faults struct {
	mu    sync.Mutex
	armed []*Fault
	until time.Time // the service seems down
}

// take returns the fault for a request, or nil, and counts it.
func (a *faults) take(r *http.Request) *Fault {
	a.mu.Lock()
	defer a.mu.Unlock()
	if time.Now().Before(a.until) {
		return &Fault{Act: "cut-before"}
	}
	for _, f := range a.armed {
		if f.Times > 0 && (f.Method == "" || f.Method == r.Method) && f.path.MatchString(r.URL.Path) {
			f.Times--
			if f.Act == "down" {
				a.until = time.Now().Add(time.Duration(f.Milliseconds) * time.Millisecond)
			}
			return f
		}
	}
	return nil
}

func (a *faults) serve(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch r.Method {
	case http.MethodPost:
		var f Fault
		decode := json.NewDecoder(r.Body)
		decode.DisallowUnknownFields()
		err := decode.Decode(&f)
		if err == nil {
			err = f.check()
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		a.armed = append(a.armed, &f)
	case http.MethodDelete:
		a.armed, a.until = nil, time.Time{}
	default:
		http.Error(w, "POST a fault, or DELETE all", http.StatusMethodNotAllowed)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// answer is what act status sends: the refusal of a service, in its envelope.
func (f *Fault) answer(w http.ResponseWriter) {
	clock := time.Now().UTC().Add(time.Duration(f.ClockSkew) * time.Second)
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(f.RetryAfter))
		if f.ClockSkew != 0 {
			again := clock.Add(time.Duration(f.RetryAfter) * time.Second)
			w.Header().Set("Retry-After", again.Format(http.TimeFormat))
		}
	}
	w.Header().Set("Date", clock.Format(http.TimeFormat))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.Status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"code": f.Code, "message": "the case asked for this status"}})
}
