package events_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
)

// -learn stores the fixtures and fields of new event types. It changes no
// existing fixture and removes no field, because every event that was ever
// written must stay readable.
var learn = flag.Bool("learn", false, "store the fixtures and fields of new event types")

// TestEveryStoredEventCanBeRead: the fixture of every event type can be read,
// and written again without a change.
func TestEveryStoredEventCanBeRead(t *testing.T) {
	t.Parallel()
	const dir = "testdata/fixtures"
	known := map[string]bool{}
	for _, zero := range events.Types() {
		name := zero.EventType()
		known[name+".json"] = true
		path := filepath.Join(dir, name+".json")
		if _, err := os.Stat(path); err != nil && *learn {
			store(t, path, sample(t, zero))
		}
		value, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("%s has no fixture (go test ./events -learn makes one): %v", name, err)
			continue
		}
		read, err := events.Decode(name, value)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		written, err := events.Encode(read)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(generic(t, value), generic(t, written)); diff != "" {
			t.Errorf("%s does not survive being read and written (-stored +written):\n%s", name, diff)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !known[f.Name()] {
			t.Errorf("%s is a stored event that no type of the registry reads", f.Name())
		}
	}
}

// TestFieldsGrowAndNeverShrink: every field that was ever written is still a
// field of its event.
func TestFieldsGrowAndNeverShrink(t *testing.T) {
	t.Parallel()
	const path = "testdata/fields.txt"
	var now []string
	for _, zero := range events.Types() {
		now = append(now, fields(zero.EventType(), reflect.TypeOf(zero))...)
	}
	frozen := lines(t, path)
	for _, field := range frozen {
		if !slices.Contains(now, field) {
			t.Errorf("field %q was written once, but is no longer read", field)
		}
	}
	var fresh []string
	for _, field := range now {
		if !slices.Contains(frozen, field) {
			fresh = append(fresh, field)
		}
	}
	if len(fresh) == 0 {
		return
	}
	if !*learn {
		t.Fatalf("new fields that are not frozen yet (go test ./events -learn freezes them):\n%s", strings.Join(fresh, "\n"))
	}
	store(t, path, []byte(strings.Join(append(frozen, fresh...), "\n")+"\n"))
}

func TestEventsHoldValuesOnly(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`^netsim\.[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*\.v[0-9]+$`)
	for _, zero := range events.Types() {
		if !named.MatchString(zero.EventType()) {
			t.Errorf("%T has the type %q, which is not of the form netsim.aggregate.event.v1", zero, zero.EventType())
		}
		for _, field := range fields(zero.EventType(), reflect.TypeOf(zero)) {
			switch kind := field[strings.LastIndexByte(field, ' ')+1:]; kind {
			case "string", "bool", "int64", "time":
			default:
				t.Errorf("%s: events hold strings, booleans, integers and times only", field)
			}
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	if _, err := events.Decode("netsim.workspace.painted.v1", []byte(`{}`)); err == nil {
		t.Error("Decode accepts an unknown type")
	}
	if _, err := events.Decode("netsim.workspace.created.v1", []byte(`{"name":1}`)); err == nil {
		t.Error("Decode accepts data of another shape")
	}
}

// fields lists the leaves of an event: type, path and kind.
func fields(prefix string, typ reflect.Type) []string {
	var out []string
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		path := prefix + " " + name
		if strings.Contains(prefix, " ") {
			path = prefix + "." + name
		}
		of := f.Type
		if of.Kind() == reflect.Slice {
			of, path = of.Elem(), path+"[]"
		}
		switch {
		case f.Anonymous:
			out = append(out, fields(prefix, of)...)
		case of == reflect.TypeFor[time.Time]():
			out = append(out, path+" time")
		case of.Kind() == reflect.Struct:
			out = append(out, fields(path, of)...)
		default:
			out = append(out, path+" "+of.String())
		}
	}
	return out
}

// sample returns an event of the type in which every field has a value.
func sample(t *testing.T, zero events.Data) []byte {
	t.Helper()
	v := reflect.New(reflect.TypeOf(zero)).Elem()
	n := 0
	fill(v, &n)
	out, err := json.MarshalIndent(v.Interface(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}

func fill(v reflect.Value, n *int) {
	*n++
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.UnixMilli(1_790_000_000_000 + int64(*n)).UTC()))
	case v.Kind() == reflect.String:
		v.SetString(fmt.Sprintf("text %d", *n))
	case v.Kind() == reflect.Int64:
		v.SetInt(int64(*n))
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), n)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	}
}

func generic(t *testing.T, value []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !*learn {
		t.Fatal(err)
	}
	return strings.FieldsFunc(string(bytes.TrimSpace(text)), func(r rune) bool { return r == '\n' })
}

func store(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}
