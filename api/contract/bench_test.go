package contract

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-chi/chi/v5"

	"netsim/api"
)

func BenchmarkCheck(b *testing.B) {
	c := loaded(b)
	for name, request := range map[string]struct{ method, path, body string }{
		"get":    {"GET", simulation, ""},
		"list":   {"GET", "/api/v1/simulations?limit=100&status=running&sort=created:desc", ""},
		"submit": {"POST", submissions, `{"name":"first-run","workload":{"ranks":64,"phases":[{"operationType":"allReduce","algorithm":"ring","dataSize":1048576}]}}`},
	} {
		b.Run(name, func(b *testing.B) {
			r := httptest.NewRequest(request.method, request.path, nil)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Idempotency-Key", "8f14e45f-ea5f-4c1b")
			b.ReportAllocs()
			for b.Loop() {
				r.Body = io.NopCloser(bytes.NewReader([]byte(request.body)))
				op, ok := c.Find(r)
				if !ok {
					b.Fatal("no operation")
				}
				if _, err := op.check(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFind measures Find, which the server calls many times for each request.
func BenchmarkFind(b *testing.B) {
	c := loaded(b)
	find := func(b *testing.B, r *http.Request) {
		b.ReportAllocs()
		for b.Loop() {
			if _, ok := c.Find(r); !ok {
				b.Fatal("no operation")
			}
		}
	}
	b.Run("unrouted", func(b *testing.B) { find(b, httptest.NewRequest("GET", simulation, nil)) })
	b.Run("routed", func(b *testing.B) {
		router := chi.NewRouter()
		router.Get("/api/v1/simulations/{sim_id}", func(_ http.ResponseWriter, r *http.Request) { find(b, r) })
		router.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", simulation, nil))
	})
}

// BenchmarkParse measures the cost of Load, which each process pays once.
func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := parse(api.Document()); err != nil {
			b.Fatal(err)
		}
	}
}
