// Package conformance_test checks the running service against its contract. For every
// operation of api/openapi.yaml, requests outside the contract are refused as
// documented, and requests just inside its bounds are not. Most tests cover a new
// operation of the contract without any change.
package conformance_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"netsim/api"
	"netsim/internal/servicetest"
)

// operation is one operation of the contract.
type operation struct {
	id, method, path string
	statuses         []int
	service          bool   // requires a service token, or a role
	role             string // the role that opens an operation for service tokens, or ""
	operator         bool   // requires the role operator
	class            string // cost class
	flag             string // feature flag, or ""
	reads            bool   // changes nothing, whatever the method
	represents       bool   // a successful reply has a body or an ETag
	description      string
	parameters       []*openapi3.Parameter
	body             *openapi3.Schema // schema of the JSON body, or nil
	bodies           []any            // examples of the body
	bodyless         bool             // the body is optional
	maxBody          int              // largest body in bytes
}

func (op operation) documents(status int) bool { return slices.Contains(op.statuses, status) }

func (op operation) writes() bool { return op.method != "GET" && !op.reads }

func (op operation) reading() bool { return !op.writes() }

// document reads the contract, once.
var document = sync.OnceValues(func() ([]operation, error) {
	doc, err := openapi3.NewLoader().LoadFromData(api.Document())
	if err != nil {
		return nil, err
	}
	var all []operation
	for path, item := range doc.Paths.Map() {
		if !strings.HasPrefix(path, "/api/") {
			continue // a file, which needs no token
		}
		for method, from := range item.Operations() {
			all = append(all, read(method, path, item, from))
		}
	}
	slices.SortFunc(all, func(a, b operation) int { return cmp.Compare(a.id, b.id) })
	return all, nil
})

func operations(t *testing.T) []operation {
	t.Helper()
	all, err := document()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// each runs the test for every operation for which concerns returns true.
func each(t *testing.T, concerns func(operation) bool, test func(*testing.T, operation)) {
	t.Parallel()
	for _, op := range operations(t) {
		if concerns(op) {
			t.Run(op.id, func(t *testing.T) {
				t.Parallel()
				test(t, op)
			})
		}
	}
}

func every(operation) bool { return true }

func read(method, path string, item *openapi3.PathItem, from *openapi3.Operation) operation {
	op := operation{id: from.OperationID, method: method, path: path, maxBody: 8 << 20, description: from.Description}
	access, _ := from.Extensions["x-netsim-access"].(map[string]any)
	op.service, op.operator = access["token"] == "service", access["token"] == "operator"
	op.role, _ = access["role"].(string)
	op.class, _ = access["class"].(string)
	op.flag, _ = access["flag"].(string)
	op.reads, _ = access["reads"].(bool)
	for status, answer := range from.Responses.Map() {
		code, _ := strconv.Atoi(status)
		op.represents = op.represents || code < 300 && (len(answer.Value.Content) > 0 || answer.Value.Headers["ETag"] != nil)
		op.statuses = append(op.statuses, code)
	}
	for _, p := range slices.Concat(item.Parameters, from.Parameters) {
		op.parameters = append(op.parameters, p.Value)
	}
	if from.RequestBody == nil {
		return op
	}
	if most, ok := from.RequestBody.Value.Extensions["x-netsim-max-bytes"].(float64); ok {
		op.maxBody = int(most)
	}
	op.bodyless = !from.RequestBody.Value.Required
	content := from.RequestBody.Value.Content["application/json"]
	if content == nil {
		return op // a form has no JSON to probe
	}
	op.body = content.Schema.Value
	for _, name := range slices.Sorted(maps.Keys(content.Examples)) {
		op.bodies = append(op.bodies, content.Examples[name].Value.Value)
	}
	return op
}

// request is a request for an operation. Tests send it as it is or changed.
type request struct {
	op     operation
	path   map[string]string
	query  url.Values
	header map[string]string
	body   any // nil, []byte, or a value that is sent as JSON
}

// request returns the contract's example of a request. The resources that it names do
// not exist. It has only the required parameters, and If-Match if the operation takes
// it.
func (op operation) request() request {
	r := request{op: op, path: map[string]string{}, query: url.Values{}, header: map[string]string{}}
	for _, p := range op.parameters {
		switch {
		case p.In == "path":
			r.path[p.Name] = example(p)
		case p.In == "query" && p.Required:
			r.query.Set(p.Name, example(p))
		case p.Name == "If-Match":
			r.header[p.Name] = "*"
		}
	}
	if op.body != nil {
		r.body = op.bodies[0]
	}
	return r
}

// with returns the request with other values of a parameter.
func (r request) with(p *openapi3.Parameter, values ...string) request {
	r.path, r.query, r.header = maps.Clone(r.path), maps.Clone(r.query), maps.Clone(r.header)
	switch p.In {
	case "path":
		r.path[p.Name] = values[0]
	case "query":
		r.query[p.Name] = values
	case "header":
		r.header[p.Name] = values[0]
	}
	return r
}

func (r request) withBody(body any) request {
	r.body = body
	return r
}

// target returns the path and the query.
func (r request) target() string {
	target := r.op.path
	for name, value := range r.path {
		target = strings.ReplaceAll(target, "{"+name+"}", url.PathEscape(value))
	}
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	return target
}

func (r request) send(c *servicetest.Client, headers ...servicetest.Header) servicetest.Reply {
	for name, value := range r.header {
		headers = append([]servicetest.Header{{Name: name, Value: value}}, headers...)
	}
	if r.op.id == "FollowEvents" && r.op.method == http.MethodGet { // it does not end
		if head := c.Do(http.MethodHead, r.target(), nil, headers...); head.Status == http.StatusOK {
			return head
		}
	}
	return c.Do(r.op.method, r.target(), r.body, headers...)
}

// answer insists on the request.
func (r request) answer(c *servicetest.Client) servicetest.Reply {
	return c.Insist(func() servicetest.Reply { return r.send(c) })
}

func example(p *openapi3.Parameter) string {
	if p.Example != nil {
		return text(p.Example)
	}
	return text(sample(p.Schema.Value))
}

func text(value any) string {
	if f, ok := value.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}

// refusal returns the code and message of an error reply, whatever its status.
func refusal(r servicetest.Reply) (code, message string) {
	var e struct {
		Error struct{ Code, Message string }
	}
	if r.Status >= 300 && len(r.Body) > 0 {
		r.Into(&e)
	}
	return e.Error.Code, e.Error.Message
}
