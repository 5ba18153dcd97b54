package conformance_test

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"netsim/internal/servicetest"
)

// TestARequestIsRepeatedUnderItsKey: a write repeated under its idempotency key gets the
// same reply. A different write under the same key is refused.
func TestARequestIsRepeatedUnderItsKey(t *testing.T) {
	w := newWorld(t, servicetest.Shared(t))
	repeatable := func(op operation) bool {
		return op.key() != nil && op.id != "TerminateSimulation" && op.id != "TerminateRun" && op.id != "TerminateStudy" && op.id != "ResumeStudy"
	}
	each(t, repeatable, func(t *testing.T, op operation) {
		c := w.client(t)
		r := w.request(t, op).with(op.key(), "key-"+op.id)
		first, second := r.send(c), r.send(c)
		if first.Status >= 300 || second.Status != first.Status {
			t.Fatalf("%d %s\nrepeated: %d %s", first.Status, first.Body, second.Status, second.Body)
		}
		if a, b := first.Header.Get("Location"), second.Header.Get("Location"); a != b {
			t.Errorf("the first reply has Location %s, the second %s", a, b)
		}
		if other, ok := r.another(); ok {
			other.send(c).Refused(422, "UNPROCESSABLE_ENTITY")
		}
	})
}

func (op operation) key() *openapi3.Parameter {
	for _, p := range op.parameters {
		if p.Name == "Idempotency-Key" {
			return p
		}
	}
	return nil
}

// another returns a different request to the same resource. It returns false when there
// is none.
func (r request) another() (request, bool) {
	if r.op.id == "UploadTraceset" {
		return r.withBody(formOf("another")), true
	}
	if r.op.id == "ReplayWebhook" {
		return r.withBody(map[string]any{"since": "2026-11-21T09:00:00Z"}), true
	}
	for _, p := range slices.Backward(r.op.parameters) {
		if p.In == "query" && p.Required {
			return r.with(p, r.query.Get(p.Name)+"1"), true
		}
	}
	if r.body != nil {
		text, err := json.Marshal(r.body)
		var body any
		if err != nil || json.Unmarshal(text, &body) != nil {
			return r, false
		}
		body, changed := altered(body)
		return r.withBody(body), changed
	}
	return r, false
}

// altered returns the value with one allowed change: of its name, of a number, or of
// the last character of a text that is not an enum.
func altered(value any) (any, bool) {
	switch v := value.(type) {
	case float64:
		if v == math.Trunc(v) {
			return v + 1, true
		}
		return v / 2, true
	case string:
		last := "1"
		if strings.HasSuffix(v, last) {
			last = "2"
		}
		return v[:len(v)-1] + last, v != ""
	case []any:
		if len(v) > 0 {
			item, ok := altered(v[0])
			return append([]any{item}, v[1:]...), ok
		}
	case map[string]any:
		for _, name := range append([]string{"name"}, slices.Sorted(maps.Keys(v))...) {
			switch name {
			case "type", "unit", "duration", "category", "topologyConstraints", "uploadId":
				continue
			}
			if _, list := v[name].([]any); list && len(v) > 2 {
				continue // another member is easier to change
			}
			if member, ok := altered(v[name]); ok {
				v[name] = member
				return v, true
			}
		}
	}
	return value, false
}

func TestNothingStartsWithoutCredit(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	c := p.User(t, servicetest.NewAccount())
	templates, _ := c.Get("/api/v1/templates?limit=1").Want(200).Object()["templates"].([]any)
	template, _ := templates[0].(map[string]any)["id"].(string)
	id := member(t, c.Post("/api/v1/templates/"+template+"/clone", map[string]any{"name": "clone"}).Want(201), "id")
	c.Post("/api/v1/configurations/"+id+"/validate", nil).Want(200)
	c.Post("/api/v1/simulations", map[string]any{"configurationId": id, "name": "poor", "duration": "1s"}).Refused(402, "PAYMENT_REQUIRED")
}
