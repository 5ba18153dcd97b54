package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"pgregory.net/rapid"
)

// The checker and kin-openapi's JSON Schema 2020-12 validation agree on which
// randomly changed examples of the contract are valid.
func TestCheckAgreesWithJSONSchema(t *testing.T) {
	t.Parallel()
	schemas := compiler{}
	type subject struct {
		where   string
		ref     *openapi3.SchemaRef
		schema  *schema
		example any
	}
	var subjects []subject
	for path, item := range document(t).Paths.Map() {
		for method, op := range item.Operations() {
			bodies := map[string]openapi3.Content{}
			if op.RequestBody != nil {
				bodies["request"] = op.RequestBody.Value.Content
			}
			for status, response := range op.Responses.Map() {
				bodies[status] = response.Value.Content
			}
			for body, content := range bodies {
				for mediaType, of := range content {
					compiled, err := schemas.compile(of.Schema)
					if err != nil {
						t.Fatal(err)
					}
					for name, example := range of.Examples {
						where := fmt.Sprintf("%s %s %s %s %s", method, path, body, mediaType, name)
						subjects = append(subjects, subject{where, of.Schema, compiled, example.Value.Value})
					}
				}
			}
		}
	}
	slices.SortFunc(subjects, func(a, b subject) int { return strings.Compare(a.where, b.where) })

	rapid.Check(t, func(rt *rapid.T) {
		given := subjects[rapid.IntRange(0, len(subjects)-1).Draw(rt, "subject")]
		changed := change(rt, plainCopy(rt, given.example))
		for range rapid.IntRange(0, 2).Draw(rt, "more changes") {
			changed = change(rt, changed)
		}
		theirs := given.ref.Value.VisitJSON(changed, openapi3.EnableJSONSchema2020())
		ours := given.schema.check(reread(t, changed), false)
		if (theirs == nil) != (ours == nil) {
			text, _ := json.Marshal(changed)
			rt.Fatalf("%s\n%s\nours: %v\ntheirs: %v", given.where, text, ours, theirs)
		}
	})
}

// change replaces, extends, shortens or empties one part of the value.
func change(t *rapid.T, value any) any {
	if rapid.IntRange(0, 3).Draw(t, "descend") == 0 {
		return rapid.SampledFrom([]any{
			nil, true, "", "x", "a b", "running", "2026-11-21", "2026-11-21T08:30:00.125Z", "8:1",
			float64(-1), float64(0), float64(1), 0.5, float64(1 << 50), []any{}, map[string]any{},
		}).Draw(t, "replacement")
	}
	switch v := value.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		switch i := rapid.IntRange(-1, len(names)).Draw(t, "member"); {
		case i < 0:
			v["another"] = true
		case i == len(names):
			clear(v)
		case rapid.Bool().Draw(t, "remove"):
			delete(v, names[i])
		default:
			v[names[i]] = change(t, v[names[i]])
		}
	case []any:
		if len(v) == 0 {
			return append(v, "x")
		}
		i := rapid.IntRange(0, len(v)-1).Draw(t, "item")
		v[i] = change(t, v[i])
	}
	return value
}

// plainCopy returns a copy with numbers as float64, which kin-openapi expects.
func plainCopy(t *rapid.T, value any) any {
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var copied any
	if err := json.Unmarshal(text, &copied); err != nil {
		t.Fatal(err)
	}
	return copied
}
