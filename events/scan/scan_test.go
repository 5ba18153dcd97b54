package scan_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"netsim/events/scan"
)

// found returns what Object finds with the table a, b, c, each as "index=value".
func found(text string) (members []string, whole bool) {
	var t scan.Table
	for _, name := range []string{"a", "b", "c"} {
		t.Add(name)
	}
	whole = t.Object([]byte(text), func(index int, value []byte) bool {
		members = append(members, fmt.Sprintf("%d=%s", index, value))
		return string(value) != `"stop"`
	})
	return members, whole
}

func TestObject(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`{}`:                       nil,
		" { }\n":                   nil,
		`{"a":1,"b":"x","c":true}`: {"0=1", `1="x"`, "2=true"},
		`{"c":1,"a":-2.5e3}`:       {"2=1", "0=-2.5e3"},
		` { "b" : null , "z" : { "a" : [ 1, "}" ] } } `: {"1=null", `-1={ "a" : [ 1, "}" ] }`},
		`{"A":1,"a":2,"a":3}`:                           {"0=1", "0=2", "0=3"},
		`{"\u0061":"\"","b":"\\"}`:                      {`0="\""`, `1="\\"`},
		`{"":[]}`:                                       {"-1=[]"},
	} {
		if got, whole := found(text); !whole || !slices.Equal(got, want) {
			t.Errorf("in %s are %q, %v, want %q", text, got, whole, want)
		}
	}
	for _, text := range []string{
		``, ` `, `{`, `{"a"`, `{"a"}`, `{"a":`, `{"a":}`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{"a":1}}`, `{"a":1} 2`, `{"a":"x}`, `{"a":{"b":1}`, `{"a":[1}`,
		`{a:1}`, `{"a" 1}`, `{"a":1 "b":2}`, `{"a":1]}`, "{\"\x01\":1}", `{"\x":1}`, `[]`, `"a"`, `null`, `{"a":"stop"}`,
	} {
		if got, whole := found(text); whole {
			t.Errorf("%s is read as %q", text, got)
		}
	}
}

func TestArray(t *testing.T) {
	t.Parallel()
	read := func(text string) (elements []string, whole bool) {
		whole = scan.Array([]byte(text), func(value []byte) bool {
			elements = append(elements, string(value))
			return true
		})
		return elements, whole
	}
	for text, want := range map[string][]string{
		`[]`: nil, ` [ ] `: nil, `[1]`: {"1"}, `[ "a]" , [1,2], {"a":[3]} ]`: {`"a]"`, "[1,2]", `{"a":[3]}`},
	} {
		if got, whole := read(text); !whole || !slices.Equal(got, want) {
			t.Errorf("in %s are %q, %v, want %q", text, got, whole, want)
		}
	}
	for _, text := range []string{``, `[`, `[1`, `[1,]`, `[,1]`, `[1}`, `[1]]`, `["a]`, `{}`} {
		if got, whole := read(text); whole {
			t.Errorf("%s is read as %q", text, got)
		}
	}
}

// TestMembersAreThoseOfTheCodec: a text of encoding/json is taken apart into the values
// that it was made of.
func TestMembersAreThoseOfTheCodec(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.MapOf(rapid.String(), rapid.OneOf(
			rapid.Map(rapid.String(), func(s string) any { return s }),
			rapid.Map(rapid.Int64(), func(n int64) any { return n }),
			rapid.Map(rapid.SliceOf(rapid.String()), func(l []string) any { return l }),
			rapid.Map(rapid.MapOf(rapid.String(), rapid.Bool()), func(m map[string]bool) any { return m }),
		)).Draw(t, "values")
		text, err := json.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(text, &members); err != nil {
			t.Fatal(err)
		}
		var want, got []string
		for _, raw := range members {
			want = append(want, string(raw))
		}
		whole := new(scan.Table).Object(text, func(_ int, value []byte) bool {
			got = append(got, string(value))
			return true
		})
		slices.Sort(want)
		slices.Sort(got)
		if !whole || !slices.Equal(got, want) {
			t.Fatalf("in %s are %q, %v, want %q", text, got, whole, want)
		}
	})
}
