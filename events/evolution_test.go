package events_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
)

// TestMembersStayRequiredOrOptional: a member that is always written stays so, and a
// member that is added to a type may be absent. Then a reader with any schema of a
// type reads the data of all releases.
func TestMembersStayRequiredOrOptional(t *testing.T) {
	t.Parallel()
	const path = "testdata/members.txt"
	var now []string
	for _, zero := range events.Types() {
		now = append(now, zero.EventType())
		now = append(now, presence(zero.EventType()+" ", reflect.TypeOf(zero))...)
	}
	frozen := lines(t, path)
	fresh, wrong := evolution(frozen, now)
	for _, text := range wrong {
		t.Error(text)
	}
	switch {
	case len(fresh) == 0 || len(wrong) > 0:
	case *learn:
		store(t, path, []byte(strings.Join(append(frozen, fresh...), "\n")+"\n"))
	default:
		t.Errorf("new members that are not frozen yet (go test ./events -learn freezes them):\n%s", strings.Join(fresh, "\n"))
	}
}

// presence lists the members of an event: type, path and whether it is required.
func presence(prefix string, typ reflect.Type) (all []string) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		if f.Anonymous {
			all = append(all, presence(prefix, f.Type)...)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		of, path := f.Type, prefix+name
		if of.Kind() == reflect.Slice {
			of, path = of.Elem(), path+"[]"
		}
		kind := "required"
		if options != "" {
			kind = "optional"
		}
		all = append(all, path+" "+kind)
		if of.Kind() == reflect.Struct && of.PkgPath() != "time" {
			all = append(all, presence(path+".", of)...)
		}
	}
	return all
}

// evolution compares the members with the frozen ones. It returns the new ones, and
// a text for each change that readers would notice.
func evolution(frozen, now []string) (fresh, wrong []string) {
	before := map[string]string{} // required or optional, by type and path
	for _, line := range frozen {
		before[member(line)] = line
	}
	current := map[string]bool{}
	for _, line := range now {
		name := member(line)
		current[name] = true
		typeName, path, _ := strings.Cut(name, " ")
		parent := typeName
		if i := strings.LastIndexByte(path, '.'); i >= 0 {
			parent = typeName + " " + path[:i]
		}
		switch old := before[name]; {
		case old == line:
		case old != "":
			wrong = append(wrong, fmt.Sprintf("%s was %s: that cannot change; make a new version of the type", line, strings.TrimPrefix(old, name+" ")))
		case path != "" && strings.HasSuffix(line, " required") && before[parent] != "":
			wrong = append(wrong, fmt.Sprintf("%s was added to what releases have written: it must be optional (omitempty or omitzero)", name))
		default:
			fresh = append(fresh, line)
		}
	}
	for _, line := range frozen {
		if name := member(line); !current[name] {
			wrong = append(wrong, fmt.Sprintf("%s was written once, but is no longer a member", name))
		}
	}
	return fresh, wrong
}

// member returns the type and path of a line.
func member(line string) string {
	words := strings.Split(line, " ")
	return strings.Join(words[:min(len(words), 2)], " ")
}

func TestIncompatibleChangesAreFound(t *testing.T) {
	t.Parallel()
	frozen := []string{"t.v1", "t.v1 a required", "t.v1 b optional", "t.v1 list[] optional", "t.v1 list[].x required"}
	tests := map[string]struct {
		now         []string
		fresh, said string
	}{
		"nothing":                   {frozen, "", ""},
		"optional member":           {append(slices.Clone(frozen), "t.v1 c optional"), "t.v1 c optional", ""},
		"new type":                  {append(slices.Clone(frozen), "u.v1", "u.v1 a required"), "u.v1,u.v1 a required", ""},
		"required in a new list":    {append(slices.Clone(frozen), "t.v1 more[] optional", "t.v1 more[].y required"), "t.v1 more[] optional,t.v1 more[].y required", ""},
		"required member":           {append(slices.Clone(frozen), "t.v1 c required"), "", "t.v1 c was added"},
		"required in an old list":   {append(slices.Clone(frozen), "t.v1 list[].y required"), "", "t.v1 list[].y was added"},
		"required becomes optional": {append(slices.Clone(frozen[2:]), "t.v1", "t.v1 a optional"), "", "t.v1 a optional was required"},
		"optional becomes required": {append(slices.Clone(frozen[:2]), "t.v1 b required", "t.v1 list[] optional", "t.v1 list[].x required"), "", "t.v1 b required was optional"},
		"removed":                   {frozen[:4], "", "t.v1 list[].x was written once"},
		"list becomes one":          {append(slices.Clone(frozen[:3]), "t.v1 list optional", "t.v1 list.x required"), "t.v1 list optional,t.v1 list.x required", "t.v1 list[] was written once"},
	}
	for name, tt := range tests {
		fresh, wrong := evolution(frozen, tt.now)
		if diff := cmp.Diff(tt.fresh, strings.Join(fresh, ",")); diff != "" {
			t.Errorf("%s: new members (-want +got):\n%s", name, diff)
		}
		if said := strings.Join(wrong, "; "); (tt.said == "") != (said == "") || !strings.Contains(said, tt.said) {
			t.Errorf("%s: %q, want %q", name, said, tt.said)
		}
	}
}
