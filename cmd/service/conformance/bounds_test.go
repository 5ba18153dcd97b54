package conformance_test

import (
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"netsim/internal/servicetest"
)

// TestBodiesKeepToTheirBounds sends, for every value of every body, a value just
// outside the contract's bounds, which is refused, and a value just inside.
func TestBodiesKeepToTheirBounds(t *testing.T) {
	each(t, hasBody, func(t *testing.T, op operation) {
		c := newAccountClient(t)
		seen := map[string]bool{}
		for _, body := range op.bodies {
			probeBody(func(p probe) {
				if p.at == "the request body" && p.outside == nil && op.bodyless {
					return // a nil body is sent as no body, which is allowed
				}
				if name := p.at + " " + p.what + " " + text(p.inside); !seen[name] {
					seen[name] = true
					try(t, c, p, op.request().withBody(p.outside), op.request().withBody(p.inside))
				}
			}, op.body, "", body, 0, func(v any) any { return v })
		}
	})
}

// TestParametersKeepToTheirBounds is TestBodiesKeepToTheirBounds for parameters.
func TestParametersKeepToTheirBounds(t *testing.T) {
	each(t, every, func(t *testing.T, op operation) {
		c := newAccountClient(t)
		for _, parameter := range op.parameters {
			for _, p := range probeParameter(parameter) {
				p.at = parameter.Name
				outside, inside := op.request().with(parameter, text(p.outside)), op.request()
				if p.inside != nil {
					inside = inside.with(parameter, text(p.inside))
				}
				try(t, c, p, outside, inside)
			}
		}
		for _, parameter := range op.parameters {
			if parameter.In == "query" && parameter.Required {
				without := op.request()
				without.query.Del(parameter.Name)
				try(t, c, probe{at: parameter.Name, what: "a missing parameter"}, without, without)
			}
		}
	})
}

// probeParameter returns the probes of a parameter. Parameters are text, so the probe
// of another type is text that does not parse as the type.
func probeParameter(p *openapi3.Parameter) []probe {
	s := p.Schema.Value
	var all []probe
	if s.Type.Includes("integer") || s.Type.Includes("boolean") {
		all = append(all, probe{what: "another type", outside: "text"})
		if p.In != "path" {
			all = append(all, probe{what: "nothing", outside: ""})
		}
	}
	var value any = example(p)
	if !s.Type.Includes("string") {
		value = sample(s)
	}
	for _, found := range probes(s, value) {
		switch outside, isText := found.outside.(string); {
		case found.what == "another type", found.what == "null":
		case isText && (p.In == "path" && outside == "" || p.In == "header" && strings.ContainsAny(outside, "\x00\x01")):
		default:
			all = append(all, found)
		}
	}
	return all
}

// try sends the outside request, which must be refused with a message that names the
// probed value, and the inside request, which must not be refused for the same reason.
func try(t *testing.T, c *servicetest.Client, p probe, outside, inside request) {
	t.Helper()
	reply := outside.send(c)
	code, message := refusal(reply)
	if reply.Status != 400 || code != "VALIDATION_ERROR" || !strings.HasPrefix(message, p.at) {
		t.Errorf("%s, %s (%.80q): %d %s, want a 400 whose message begins with the name", p.at, p.what, text(p.outside), reply.Status, clip(reply.Body))
		return
	}
	if p.inside == nil {
		return
	}
	reason, _, _ := strings.Cut(message, ", got ")
	reply = inside.send(c)
	if _, message := refusal(reply); strings.HasPrefix(message, reason) {
		t.Errorf("%s, value inside the bound of %q (%.80q): %d %s", p.at, p.what, text(p.inside), reply.Status, clip(reply.Body))
	}
}

func clip(body []byte) string { return string(body[:min(len(body), 400)]) }
