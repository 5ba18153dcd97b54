package contract

import (
	"bytes"
	"io"
	"net/http/httptest"
	"testing"

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
				if err := op.check(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkParse is what Load costs a process once.
func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := parse(api.Document()); err != nil {
			b.Fatal(err)
		}
	}
}
