package contract

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-chi/chi/v5"

	"netsim/api"
)

// Contract is the compiled contract. It is safe for concurrent use.
type Contract struct {
	operations map[route]*Operation
	routes     chi.Router // used only to match
	problem    *schema    // of an error as problem details, which a request can ask for
}

// route is a method and a path template.
type route struct{ method, path string }

// Operation is one operation of the contract.
type Operation struct {
	ID     string // such as StartSimulation, the name of the handler's method
	Method string
	Path   string // the template, such as /api/v1/simulations/{sim_id}
	Access Access

	parameters []parameter
	body       *schema // schema of the JSON body; nil when the operation takes no JSON
	form       *form   // nil when the operation takes no form
	bodyless   bool    // the body is optional
	maxBody    int     // bytes; 0 for the limit of all operations
	responses  map[int]*response
}

// Access is the extension x-netsim-access: which token and feature flag an operation
// requires, and what it costs.
type Access struct {
	Token string // "any" token, a "service" token, or one with the role "operator"
	Role  string // "billing" if this role, too, opens an operation for service tokens
	Class string // cost class: read, write, heavy, stream, upload or content
	Flag  string // feature flag without which the operation is 404; may be empty
	Reads bool   // the operation changes nothing, whatever its method
	Long  bool   // the operation reads many bytes and may take minutes

	Records bool // the operation is a GET that records an event
	Primary bool // the operation reads what only the deployment that takes writes has
}

type parameter struct {
	name, in string // in: path, query or header
	required bool
	schema   *schema
}

// Load returns the contract, compiled on first use. An error means that the program
// was built with an unusable contract.
func Load() (*Contract, error) { return load() }

var load = sync.OnceValues(func() (*Contract, error) { return parse(api.Document()) })

func parse(document []byte) (*Contract, error) {
	doc, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		return nil, fmt.Errorf("read the contract: %w", err)
	}
	if err := doc.Validate(context.Background(), openapi3.DisableExamplesValidation()); err != nil {
		return nil, fmt.Errorf("check the contract: %w", err)
	}
	c := &Contract{operations: map[route]*Operation{}, routes: chi.NewRouter()}
	schemas := compiler{}
	if c.problem, err = schemas.compile(doc.Components.Schemas["Problem"]); err != nil {
		return nil, fmt.Errorf("compile Problem: %w", err)
	}
	for path, item := range doc.Paths.Map() {
		for method, from := range item.Operations() {
			op, err := schemas.operation(method, path, item, from)
			if err != nil {
				return nil, fmt.Errorf("compile %s %s: %w", method, path, err)
			}
			c.operations[route{method, path}] = op
			c.routes.MethodFunc(method, path, func(http.ResponseWriter, *http.Request) {})
		}
	}
	return c, nil
}

func (c compiler) operation(method, path string, item *openapi3.PathItem, from *openapi3.Operation) (*Operation, error) {
	op := &Operation{ID: from.OperationID, Method: method, Path: path, responses: map[int]*response{}}
	if access, ok := from.Extensions["x-netsim-access"].(map[string]any); ok {
		op.Access.Token, _ = access["token"].(string)
		op.Access.Role, _ = access["role"].(string)
		op.Access.Class, _ = access["class"].(string)
		op.Access.Flag, _ = access["flag"].(string)
		op.Access.Reads, _ = access["reads"].(bool)
		op.Access.Long, _ = access["long"].(bool)
		op.Access.Records, _ = access["records"].(bool)
		op.Access.Primary, _ = access["primary"].(bool)
	}
	for _, ref := range slices.Concat(item.Parameters, from.Parameters) {
		p := ref.Value
		of, err := c.compile(p.Schema)
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", p.Name, err)
		}
		op.parameters = append(op.parameters, parameter{name: p.Name, in: p.In, required: p.Required, schema: of})
	}
	if from.RequestBody != nil {
		var err error
		content := from.RequestBody.Value.Content
		if op.form, err = c.form(content); err != nil {
			return nil, fmt.Errorf("request form: %w", err)
		}
		if text := content["application/json"]; text != nil {
			if op.body, err = c.compile(text.Schema); err != nil {
				return nil, fmt.Errorf("request body: %w", err)
			}
		}
		most, _ := from.RequestBody.Value.Extensions["x-netsim-max-bytes"].(float64)
		op.maxBody = int(most)
		op.bodyless = !from.RequestBody.Value.Required
	}
	for status, ref := range from.Responses.Map() {
		code, err := strconv.Atoi(status)
		if err != nil {
			return nil, fmt.Errorf("response %s: not a status", status)
		}
		if op.responses[code], err = c.response(ref.Value); err != nil {
			return nil, fmt.Errorf("response %s: %w", status, err)
		}
	}
	return op, nil
}

// Find returns the operation of a request, or false when the contract has none for
// its path and method. HEAD finds the operation of GET. If a chi router has already
// matched the request, Find uses that route.
func (c *Contract) Find(r *http.Request) (*Operation, bool) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	template := chi.RouteContext(r.Context()).RoutePattern()
	if template == "" {
		template = c.routes.Find(chi.NewRouteContext(), method, cmp.Or(r.URL.RawPath, r.URL.Path))
	}
	op, ok := c.operations[route{method, template}]
	return op, ok
}

// Locate is the middleware that finds the operation of a request once, for OperationOf.
func (c *Contract) Locate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if op, ok := c.Find(r); ok {
			r = r.WithContext(context.WithValue(r.Context(), located{}, op))
		}
		next.ServeHTTP(w, r)
	})
}

// located is the context key of the operation that Locate has found.
type located struct{}

// OperationOf returns the operation of a request that passed Locate.
func OperationOf(r *http.Request) (*Operation, bool) {
	op, ok := r.Context().Value(located{}).(*Operation)
	return op, ok
}

// Operations returns the operations of the API, ordered by path and method. The contract
// also has files that need no token, which Find and Response know.
func (c *Contract) Operations() []*Operation {
	all := make([]*Operation, 0, len(c.operations))
	for _, op := range c.operations {
		if strings.HasPrefix(op.Path, "/api/") {
			all = append(all, op)
		}
	}
	slices.SortFunc(all, func(a, b *Operation) int { return cmp.Compare(a.Path+" "+a.Method, b.Path+" "+b.Method) })
	return all
}

// Statuses returns the statuses that the operation lists, in order.
func (op *Operation) Statuses() []int { return slices.Sorted(maps.Keys(op.responses)) }

// MaxBody returns the operation's limit on the bytes of a request body. 0 means that the
// general limit applies.
func (op *Operation) MaxBody() int64 { return int64(op.maxBody) }

// documents reports whether the operation lists the status.
func (op *Operation) documents(status int) bool { return op.responses[status] != nil }

// Takes reports whether the operation has the request header as a parameter.
func (op *Operation) Takes(header string) bool {
	return slices.ContainsFunc(op.parameters, func(p parameter) bool { return p.in == "header" && p.name == header })
}
