package contract

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"netsim/api"
)

func TestContractIsValidOpenAPI(t *testing.T) {
	t.Parallel()
	doc := document(t)
	if doc.OpenAPI != "3.1.1" {
		t.Errorf("openapi: %s", doc.OpenAPI)
	}
	if err := doc.Validate(t.Context(), openapi3.DisableExamplesValidation()); err != nil {
		t.Error(err)
	}
}

func TestEveryOperationIsComplete(t *testing.T) {
	t.Parallel()
	c := loaded(t)
	seen := map[string]string{}
	for _, op := range c.Operations() {
		where := op.Method + " " + op.Path
		if other, taken := seen[op.ID]; op.ID == "" || taken {
			t.Errorf("%s: operationId %q, also of %q", where, op.ID, other)
		}
		seen[op.ID] = where
		for _, status := range []int{http.StatusUnauthorized, http.StatusInternalServerError} {
			if !op.documents(status) {
				t.Errorf("%s lists no %d", where, status)
			}
		}
		if !slices.Contains([]string{"any", "service", "operator"}, op.Access.Token) {
			t.Errorf("%s: x-netsim-access wants token %q", where, op.Access.Token)
		}
		billed := strings.HasPrefix(op.Path, "/api/v1/billing/") && op.Method == http.MethodGet
		if want := map[bool]string{true: "billing"}[billed]; op.Access.Role != want || want != "" && op.Access.Token != "service" {
			t.Errorf("%s: x-netsim-access opens it to the role %q, want %q, as all reads of billing and nothing else", where, op.Access.Role, want)
		}
		if !slices.Contains([]string{"read", "write", "heavy", "stream", "upload", "content"}, op.Access.Class) {
			t.Errorf("%s: x-netsim-access has the cost class %q", where, op.Access.Class)
		}
		if !op.documents(http.StatusTooManyRequests) {
			t.Errorf("%s lists no 429", where)
		}
		if op.Access.Token != "any" && !op.documents(http.StatusForbidden) {
			t.Errorf("%s wants a token with more rights and lists no 403", where)
		}
		if op.Access.Flag != "" && !op.documents(http.StatusNotFound) {
			t.Errorf("%s has a flag and lists no 404", where)
		}
		if op.documents(http.StatusUnsupportedMediaType) != (op.body != nil || op.form != nil) {
			t.Errorf("%s: has a body %v, lists 415 %v", where, op.body != nil || op.form != nil, op.documents(http.StatusUnsupportedMediaType))
		}
		if (op.body != nil || op.form != nil) && !op.documents(http.StatusRequestEntityTooLarge) {
			t.Errorf("%s has a body and lists no 413", where)
		}
		for _, p := range op.parameters {
			if p.in == "header" && p.name == "If-Match" && !op.documents(http.StatusPreconditionFailed) {
				t.Errorf("%s takes If-Match and lists no 412", where)
			}
			if p.in == "header" && p.name == "If-Match" && !sendsTag(op.responses[http.StatusPreconditionFailed]) {
				t.Errorf("%s takes If-Match, and its 412 has no ETag", where)
			}
			if p.name == "Idempotency-Key" && !op.documents(http.StatusUnprocessableEntity) {
				t.Errorf("%s takes Idempotency-Key and lists no 422", where)
			}
			if p.in != "path" && !op.documents(http.StatusBadRequest) && p.name != "If-None-Match" {
				t.Errorf("%s takes %s and lists no 400", where, p.name)
			}
		}
	}
	if got, least := len(seen), 97; got < least {
		t.Errorf("%d operations, want at least %d: no operation may be removed", got, least)
	}
}

// sendsTag reports whether every such response has an entity tag.
func sendsTag(r *response) bool {
	return r != nil && slices.ContainsFunc(r.headers, func(p parameter) bool { return p.name == "ETag" && p.required })
}

// A generated client has one type of error: every refusal is one media type and one schema.
// Readiness says what fails, in the status of a failure.
func TestThereIsOneError(t *testing.T) {
	t.Parallel()
	others := map[string]string{"GetReadiness 503": "#/components/schemas/Unreadiness"}
	for path, item := range document(t).Paths.Map() {
		for method, op := range item.Operations() {
			for status, response := range op.Responses.Map() {
				if status < "400" {
					continue
				}
				where, json := method+" "+path+" "+status, response.Value.Content["application/json"]
				want := cmp.Or(others[op.OperationID+" "+status], "#/components/schemas/Error")
				if len(response.Value.Content) != 1 || json == nil || json.Schema.Ref != want {
					t.Errorf("%s is not only %s as application/json", where, want)
				}
			}
		}
	}
}

// A generated client has one type of result: a response has one media type. What a parameter
// or Accept asks for beside it is named by x-netsim-also and described in words.
func TestNoResultIsAUnion(t *testing.T) {
	t.Parallel()
	also := map[string]int{}
	for path, item := range document(t).Paths.Map() {
		for method, op := range item.Operations() {
			for status, response := range op.Responses.Map() {
				if len(response.Value.Content) > 1 {
					t.Errorf("%s %s %s has %d media types", method, path, status, len(response.Value.Content))
				}
				if more, is := response.Value.Extensions["x-netsim-also"].([]any); is {
					also[op.OperationID] = len(more)
				}
			}
		}
	}
	want := map[string]int{"GetStudyResults": 2, "GetStudyAnalysis": 1, "GetFocusDataset": 1, "FollowEvents": 1}
	if !maps.Equal(also, want) {
		t.Errorf("x-netsim-also names media types in %v, want %v", also, want)
	}
}

func TestFindMatchesMethodAndPath(t *testing.T) {
	t.Parallel()
	cases := []struct{ method, path, then string }{
		{"GET", simulation, "GetSimulation"},
		{"HEAD", simulation, "GetSimulation"},
		{"DELETE", simulation, "DeleteSimulation"},
		{"GET", "/api/v1/simulations/anything", "GetSimulation"},
		{"GET", "/api/v1/billing/costs/summary", "GetCostSummary"},
		{"HEAD", simulation + "/terminate", ""},
		{"PUT", simulation, ""},
		{"BREW", simulation, ""},
		{"GET", simulation + "/", ""},
		{"GET", "/docs", ""},
	}
	for _, c := range cases {
		then := ""
		if op, ok := loaded(t).Find(httptest.NewRequest(c.method, c.path, nil)); ok {
			then = op.ID
		}
		if then != c.then {
			t.Errorf("%s %s is %q, want %q", c.method, c.path, then, c.then)
		}
	}
}

// An operation takes all of limit, next and cursor, or none (document 1 and
// completions.md section 1.4). The lists of the machine room have a limit and their total:
// they show what is the matter now, and change between two pages.
func TestEveryListTakesBothCursorNames(t *testing.T) {
	t.Parallel()
	for _, op := range loaded(t).Operations() {
		names := map[string]bool{}
		for _, p := range op.parameters {
			names[p.name] = true
		}
		if strings.HasPrefix(op.Path, "/api/v1/operations/") && !names["next"] && !names["cursor"] {
			continue
		}
		if names["limit"] != names["next"] || names["limit"] != names["cursor"] {
			t.Errorf("%s takes only some of limit, next and cursor", op.ID)
		}
	}
}

func TestExamplesAreWithinTheirSchemas(t *testing.T) {
	t.Parallel()
	schemas, checked := compiler{}, 0
	check := func(where string, ref *openapi3.SchemaRef, example any) {
		of, err := schemas.compile(ref)
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		if found := of.check(reread(t, example), true); found != nil {
			t.Errorf("%s: %s", where, found.message("the example"))
		}
		checked++
	}
	contents := func(where string, content openapi3.Content) {
		for mediaType, of := range content {
			if of.Example != nil {
				check(where+" "+mediaType, of.Schema, of.Example)
			}
			for name, example := range of.Examples {
				check(where+" "+mediaType+" "+name, of.Schema, example.Value.Value)
			}
			if of.Example == nil && len(of.Examples) == 0 {
				t.Errorf("%s %s has no example", where, mediaType)
			}
		}
	}
	for path, item := range document(t).Paths.Map() {
		for method, op := range item.Operations() {
			where := method + " " + path
			for _, p := range append(item.Parameters, op.Parameters...) {
				if p.Value.Example != nil {
					check(where+" "+p.Value.Name, p.Value.Schema, p.Value.Example)
				}
			}
			if op.RequestBody != nil {
				contents(where+" request", op.RequestBody.Value.Content)
			}
			for status, response := range op.Responses.Map() {
				contents(where+" "+status, response.Value.Content)
			}
		}
	}
	if checked < 400 {
		t.Errorf("only %d examples were found", checked)
	}
}

// Request bodies refuse unknown members (completions.md section 1.2).
func TestRequestObjectsAreClosed(t *testing.T) {
	t.Parallel()
	var walk func(where string, s *schema, seen map[*schema]bool)
	walk = func(where string, s *schema, seen map[*schema]bool) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		if s.open && len(s.members) > 0 {
			t.Errorf("%s accepts unknown members", where)
		}
		walk(where+"[]", s.items, seen)
		for _, m := range s.members {
			walk(where+"."+m.name, m.schema, seen)
		}
	}
	for _, op := range loaded(t).Operations() {
		walk(op.ID, op.body, map[*schema]bool{})
	}
}

// Generators make a member with a default required. So what an absent member means is said in
// words.
func TestNoMemberOfABodyHasADefault(t *testing.T) {
	t.Parallel()
	seen := map[*openapi3.Schema]bool{}
	var walk func(where string, ref *openapi3.SchemaRef)
	walk = func(where string, ref *openapi3.SchemaRef) {
		if ref == nil || seen[ref.Value] {
			return
		}
		seen[ref.Value] = true
		if ref.Value.Default != nil {
			t.Errorf("%s has the default %v", where, ref.Value.Default)
		}
		walk(where+"[]", ref.Value.Items)
		walk(where+".*", ref.Value.AdditionalProperties.Schema)
		for name, of := range ref.Value.Properties {
			walk(where+"."+name, of)
		}
	}
	for path, item := range document(t).Paths.Map() {
		for method, op := range item.Operations() {
			if op.RequestBody != nil {
				for _, content := range op.RequestBody.Value.Content {
					walk(method+" "+path, content.Schema)
				}
			}
		}
	}
	if len(seen) < 200 {
		t.Errorf("only %d schemas were found", len(seen))
	}
}

func TestParseRefusesKeywordsItWouldIgnore(t *testing.T) {
	t.Parallel()
	changed := bytes.Replace(api.Document(), []byte("    SimulationStatus:\n"), []byte("    SimulationStatus:\n      not: {type: integer}\n"), 1)
	if _, err := parse(changed); err == nil || !strings.Contains(err.Error(), "the keyword not is not supported") {
		t.Errorf("parse: %v", err)
	}
	if _, err := parse([]byte("openapi: [")); err == nil {
		t.Error("malformed YAML was accepted")
	}
}

func loaded(t testing.TB) *Contract {
	t.Helper()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func document(t testing.TB) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(api.Document())
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// reread returns the value as decoded from its JSON encoding.
func reread(t testing.TB, value any) any {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	read, err := decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return read
}
