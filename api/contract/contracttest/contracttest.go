// Package contracttest fails a test when a response violates the contract.
package contracttest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"

	"netsim/api/contract"
)

// CheckResponse fails t when resp, the response to req with this body, violates the
// contract.
func CheckResponse(t testing.TB, req *http.Request, resp *http.Response, body []byte) {
	t.Helper()
	c, err := contract.Load()
	if err == nil {
		err = c.Response(req, resp.StatusCode, resp.Header, body)
	}
	if err != nil {
		t.Error(err)
	}
}

// Transport wraps base (http.DefaultTransport when nil) and fails t when a response
// violates the contract. It reads each response completely before returning it.
func Transport(t testing.TB, base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return transport{t: t, base: base}
}

type transport struct {
	t    testing.TB
	base http.RoundTripper
}

func (c transport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := c.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("read the response to %s %s: %w", req.Method, req.URL.Path, err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	CheckResponse(c.t, req, resp, body)
	return resp, nil
}
