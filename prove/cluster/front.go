package cluster

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	"netsim/infra/wait"
)

// Front is the object store as one process of the service sees it. It can answer with
// errors, before or after the store has done what was asked, or late.
type Front struct {
	server *http.Server

	mu     sync.Mutex
	faults FrontFaults
	random *rand.Rand
	count  int
}

// FrontFaults are the shares, from 0 to 1, of the requests that are refused with 503,
// that are executed and then answered with 500, and that are late.
type FrontFaults struct {
	Refused, Lost, Late float64
	Delay               time.Duration // of a late request
}

// openFront serves the store at the target on an address. Requests keep their host, which
// their signatures name.
func openFront(address, target string, seed uint64) (*Front, error) {
	to := &url.URL{Scheme: "http", Host: target}
	f := &Front{random: rand.New(rand.NewPCG(seed, 0))}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = to.Scheme, to.Host, r.In.Host
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			w.WriteHeader(http.StatusBadGateway)
		},
		ModifyResponse: func(r *http.Response) error {
			if f.draw(func(s FrontFaults) float64 { return s.Lost }) {
				return errors.New("the reply is lost")
			}
			return nil
		},
	}
	f.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f.draw(func(s FrontFaults) float64 { return s.Late }) && wait.For(r.Context(), f.delay()) != nil {
			return
		}
		if f.draw(func(s FrontFaults) float64 { return s.Refused }) {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		proxy.ServeHTTP(w, r)
	})}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	go f.server.Serve(listener) //nolint:errcheck // it ends with Close
	return f, nil
}

// Set replaces the faults. The zero value is none.
func (f *Front) Set(faults FrontFaults) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = faults
}

// Faults returns how many requests had a fault.
func (f *Front) Faults() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count
}

func (f *Front) draw(share func(FrontFaults) float64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	hit := f.random.Float64() < share(f.faults)
	if hit {
		f.count++
	}
	return hit
}

func (f *Front) delay() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.faults.Delay
}

func (f *Front) close() error { return f.server.Shutdown(context.Background()) }
