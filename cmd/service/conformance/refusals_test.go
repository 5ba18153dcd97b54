package conformance_test

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
)

// newAccountClient returns a service client of a new account without any resources.
func newAccountClient(t *testing.T) *servicetest.Client {
	t.Helper()
	return allowed(t, servicetest.Shared(t), servicetest.NewAccount())
}

func TestATokenIsRequired(t *testing.T) {
	p := servicetest.Shared(t)
	claim := func(t *testing.T, name string, value any) *servicetest.Client {
		return p.Client(t, devissuer.Options{Service: true, Claims: map[string]any{name: value}})
	}
	each(t, every, func(t *testing.T, op operation) {
		for what, c := range map[string]*servicetest.Client{
			"no token":          p.Bearer(t, ""),
			"a malformed token": p.Bearer(t, "malformed"),
			"an expired token":  p.Client(t, devissuer.Options{Service: true, TTL: -time.Minute}),
			"another audience":  claim(t, "aud", "another"),
			"another platform":  claim(t, "platform", "another"),
			"of the future":     claim(t, "iat", time.Now().Add(2*time.Minute).Unix()),
			"roles no list":     claim(t, "roles", 1),
			"expiry as text":    claim(t, "exp", strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)),
		} {
			r := op.request().send(c)
			if code, _ := refusal(r); r.Status != 401 || code != "UNAUTHORIZED" || r.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s: got %d %s, want 401", what, r.Status, r.Body)
			}
		}
	})
}

// The same refusal is a problem of RFC 9457 when Accept asks for one, in every operation. The
// client checks its schema.
func TestARefusalIsAProblemWhenAsked(t *testing.T) {
	p := servicetest.Shared(t)
	each(t, every, func(t *testing.T, op operation) {
		asks := servicetest.Header{Name: "Accept", Value: "application/json;q=0.9, application/problem+json"}
		r := op.request().send(p.Bearer(t, "malformed"), asks)
		var problem struct {
			Type, Code string
			Status     int
		}
		r.Into(&problem)
		if got := r.Header.Get("Content-Type"); r.Status != 401 || got != "application/problem+json" || problem.Status != 401 || problem.Code != "UNAUTHORIZED" || problem.Type != "about:blank" {
			t.Errorf("got %d %s %s, want a problem", r.Status, got, r.Body)
		}
	})
}

func TestUsersMayNotUseServiceOperations(t *testing.T) {
	p := servicetest.Shared(t)
	each(t, func(op operation) bool { return op.service }, func(t *testing.T, op operation) {
		op.request().send(p.User(t, servicetest.NewAccount())).Refused(403, "FORBIDDEN")
		op.request().send(p.Person(t, servicetest.NewAccount(), "operator")).Refused(403, "FORBIDDEN")
	})
}

func TestUnknownResourcesAreNotFound(t *testing.T) {
	each(t, func(op operation) bool { return strings.Contains(op.path, "{") }, func(t *testing.T, op operation) {
		r := op.request()
		for _, p := range op.parameters {
			if p.In == "path" && takes(p.Schema.Value, "no-such-thing") {
				r = r.with(p, "no-such-thing")
			}
		}
		r.send(newAccountClient(t)).Refused(404, "NOT_FOUND")
	})
}

// TestSyntaxComesBeforeExistence: of a resource that does not exist, a cursor and a token
// that cannot be read are refused as such. TestParametersKeepToTheirBounds and
// TestBodiesKeepToTheirBounds do the same with what the schemas say.
func TestSyntaxComesBeforeExistence(t *testing.T) {
	each(t, operation.reading, func(t *testing.T, op operation) {
		for _, p := range op.parameters {
			if p.Name == "next" || p.Name == "cursor" || p.Name == "Consistency-Token" {
				op.request().with(p, "AAAA").send(newAccountClient(t)).Refused(400, "VALIDATION_ERROR")
			}
		}
	})
}

func takes(s *openapi3.Schema, value any) bool { return s.VisitJSON(value) == nil }

func TestUnknownQueryParametersAreRefused(t *testing.T) {
	each(t, every, func(t *testing.T, op operation) {
		r := op.request()
		r.query.Set("surprise", "1")
		reply := r.send(newAccountClient(t))
		if _, message := refusal(reply); reply.Status != 400 || !strings.Contains(message, "surprise") {
			t.Errorf("got %d %s, want a 400 that names the parameter", reply.Status, reply.Body)
		}
	})
}

func TestParametersGivenTwiceAreRefused(t *testing.T) {
	each(t, every, func(t *testing.T, op operation) {
		for _, p := range op.parameters {
			if p.In != "query" {
				continue
			}
			reply := op.request().with(p, example(p), example(p)).send(newAccountClient(t))
			if _, message := refusal(reply); reply.Status != 400 || !strings.Contains(message, p.Name) {
				t.Errorf("%s: got %d %s, want a 400 that names it", p.Name, reply.Status, reply.Body)
			}
		}
	})
}

func hasBody(op operation) bool { return op.body != nil }

func TestMalformedBodiesAreRefused(t *testing.T) {
	each(t, hasBody, func(t *testing.T, op operation) {
		c := newAccountClient(t)
		for what, body := range map[string]string{
			"nothing": "", "white space": " \n", "no json": "{", "two values": "{} {}",
			"a member twice": `{"name":"a","name":"b"}`, "no utf-8": "{\"name\":\"\xff\"}", "a NUL": `{"name":"\u0000"}`,
		} {
			reply := op.request().withBody([]byte(body)).send(c)
			if none := strings.TrimSpace(body) == ""; (reply.Status == 400) == (none && op.bodyless) {
				t.Errorf("%s: got %d %s, want 400 unless the optional body is empty", what, reply.Status, reply.Body)
			}
		}
	})
}

func TestOtherMediaTypesAreRefused(t *testing.T) {
	each(t, hasBody, func(t *testing.T, op operation) {
		c := newAccountClient(t)
		for _, sent := range []string{"text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1", "json"} {
			op.request().send(c, servicetest.Header{Name: "Content-Type", Value: sent}).Refused(415, "UNSUPPORTED_MEDIA_TYPE")
		}
	})
}

// A body that is too large is refused for its size. One of the largest allowed size is read
// whole, and refused for its first byte: JSON of that size would take seconds to parse under
// the race detector.
func TestLargeBodiesAreRefused(t *testing.T) {
	each(t, hasBody, func(t *testing.T, op operation) {
		tooLarge := bytes.Repeat([]byte("x"), op.maxBody+1)
		op.request().withBody(tooLarge).send(newAccountClient(t)).Refused(413, "PAYLOAD_TOO_LARGE")
		op.request().withBody(tooLarge[1:]).send(newAccountClient(t)).Refused(400, "VALIDATION_ERROR")
	})
}

func TestOtherMethodsAreNotAllowed(t *testing.T) {
	t.Parallel()
	// methods has, by path, the methods of the path itself and of every template that it
	// matches, as /a/b matches /a/{id}.
	methods := map[string][]string{}
	for _, op := range operations(t) {
		for _, other := range operations(t) {
			if other.matches(op.path) && !slices.Contains(methods[op.path], other.method) {
				methods[op.path] = append(methods[op.path], other.method)
			}
		}
	}
	for _, op := range operations(t) {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			if slices.Contains(methods[op.path], method) {
				continue
			}
			r := op.request()
			r.op.method = method
			reply := r.send(newAccountClient(t))
			code, _ := refusal(reply)
			allow := strings.ReplaceAll(reply.Header.Get("Allow"), " ", "")
			for _, want := range methods[op.path] {
				if reply.Status != http.StatusMethodNotAllowed || code != "METHOD_NOT_ALLOWED" || !slices.Contains(strings.Split(allow, ","), want) {
					t.Errorf("%s %s: %d %s, Allow: %s", method, op.path, reply.Status, reply.Body, allow)
				}
			}
		}
	}
}

// Browsers let no page of another origin read an answer or send a write, because no answer
// allows it.
func TestNoOtherOrigin(t *testing.T) {
	t.Parallel()
	for _, op := range operations(t) {
		for _, method := range []string{op.method, "OPTIONS"} {
			r := op.request()
			r.op.method = method
			r.header["Origin"] = "https://elsewhere.example"
			if method == "OPTIONS" {
				r.header["Access-Control-Request-Method"] = op.method
			}
			reply := r.send(newAccountClient(t))
			for name := range reply.Header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s %s: %s: %s", method, op.path, name, reply.Header.Get(name))
				}
			}
			if method == "OPTIONS" && reply.Status != http.StatusMethodNotAllowed {
				t.Errorf("a preflight request of %s is answered %d", op.path, reply.Status)
			}
		}
	}
}

// matches reports whether the operation's path template matches the path.
func (op operation) matches(path string) bool {
	template, given := strings.Split(op.path, "/"), strings.Split(path, "/")
	for i := range min(len(template), len(given)) {
		if template[i] != given[i] && !strings.HasPrefix(template[i], "{") {
			return false
		}
	}
	return len(template) == len(given)
}

// An unknown part of an existing resource is not found.
func TestUnknownPartsAreNotFound(t *testing.T) {
	w := newWorld(t, servicetest.Shared(t))
	nested := func(op operation) bool { return strings.Count(op.path, "{") > 1 }
	each(t, nested, func(t *testing.T, op operation) {
		r := w.request(t, op)
		for _, p := range slices.Backward(op.parameters) {
			if p.In != "path" {
				continue
			}
			unknown := "no-such-thing"
			switch {
			case p.Schema.Value.Type.Includes("integer"):
				unknown = "999999"
			case !takes(p.Schema.Value, unknown):
				unknown = example(p) // of which there is none
			}
			r.with(p, unknown).answer(w.client(t)).Refused(404, "NOT_FOUND")
			return
		}
	})
}
