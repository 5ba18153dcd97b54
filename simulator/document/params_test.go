package document_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"netsim/simulator/document"
)

// TestParamsAreRead: an object with value and type is a leaf, any other a branch, null is an
// empty branch, and the last of equal names counts.
func TestParamsAreRead(t *testing.T) {
	t.Parallel()
	leaf := func(value any) document.Param {
		return document.Param{Leaf: &document.Leaf{Value: value, Type: "t"}}
	}
	for text, want := range map[string]document.Params{
		`null`: nil,
		`{}`:   {},
		`{"a":{"value":1,"type":"t"},"b":{"c":{"value":"x","type":"t","unit":"u"},"d":{}},"e":null}`: {
			"a": leaf(1.0),
			"b": {Branch: document.Params{
				"c": {Leaf: &document.Leaf{Value: "x", Type: "t", Unit: "u"}},
				"d": {Branch: document.Params{}},
			}},
			"e": {},
		},
		`{"a":{"b":{"value":1,"type":"t"}},"a":{"c":{"value":2,"type":"t"}}}`: {"a": {Branch: document.Params{"c": leaf(2.0)}}},
	} {
		var got document.Params
		if err := json.Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as %v with the error %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{`{"a":{"b":1}}`, `{"a":{"b":{"value":1,"type":2}}}`, `{"a":[]}`} {
		var got document.Params
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is read as %v, want an error", text, got)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	text := textOf(b)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := document.Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}
