// Package conformance_test holds the running service to its contract: for every
// operation of api/openapi.yaml, whatever it is, the requests that the contract
// refuses are refused, as it says, and those just inside its bounds are not.
// An operation that is added to the contract is tested without a line here.
package conformance_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"netsim/api"
	"netsim/internal/service/servicetest"
)

// operation is one operation of the contract, with a request that keeps to it.
type operation struct {
	id, method, path string
	statuses         []int
	service          bool   // wants a service token
	class            string // of its cost
	flag             string // "" for none
	reads            bool   // changes nothing, whatever the method
	represents       bool   // a success has a body or an ETag
	description      string
	parameters       []*openapi3.Parameter
	body             *openapi3.Schema // nil for none
	bodies           []any            // examples of it
	bodyless         bool             // it may be left out
	maxBody          int              // bytes
}

func (op operation) documents(status int) bool { return slices.Contains(op.statuses, status) }

func (op operation) writes() bool { return op.method != "GET" && !op.reads }

// document reads the contract, once.
var document = sync.OnceValues(func() ([]operation, error) {
	doc, err := openapi3.NewLoader().LoadFromData(api.Document())
	if err != nil {
		return nil, err
	}
	var all []operation
	for path, item := range doc.Paths.Map() {
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

// each runs the test for every operation that it concerns.
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
	op.service = access["token"] == "service"
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

// request is one that a test sends, or changes first.
type request struct {
	op     operation
	path   map[string]string
	query  url.Values
	header map[string]string
	body   any // nil, []byte or what is sent as JSON
}

// request is the contract's own example of a request. What it names does not
// exist, and it holds nothing that may be left out but the If-Match that some
// operations require.
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

// with is the request with another value of a parameter.
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

// target is the path and the query.
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
	return c.Do(r.op.method, r.target(), r.body, headers...)
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

// refusal is the error of a reply, whatever its status.
func refusal(r servicetest.Reply) (code, message string) {
	var e struct {
		Error struct{ Code, Message string }
	}
	if r.Status >= 300 && len(r.Body) > 0 {
		r.Into(&e)
	}
	return e.Error.Code, e.Error.Message
}
