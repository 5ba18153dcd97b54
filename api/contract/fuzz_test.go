package contract

import (
	"encoding/json"
	"testing"
)

// FuzzDecode reads bodies that nobody would send. What is accepted is JSON for
// encoding/json too.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1,"a":2}`, `"\ud800"`, `"\u0000"`, `[1e999]`, `{"a":{"a":1}}`, `"\`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := decode(body); err == nil && !json.Valid(body) {
			t.Errorf("%q is accepted", body)
		}
	})
}
