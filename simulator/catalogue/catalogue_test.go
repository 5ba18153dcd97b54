package catalogue_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/simulator/catalogue"
	"netsim/simulator/document"
	"netsim/simulator/validation"
)

// TestEntries: every model has a unique id and reference, and the fields that
// discovery shows.
func TestEntries(t *testing.T) {
	t.Parallel()
	id := regexp.MustCompile(`^model_[0-7][0-9a-hjkmnp-tv-z]{25}$`)
	reference := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*-v[0-9]+$`)
	number := regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`)
	seen := map[string]bool{}
	for _, e := range catalogue.Entries() {
		if !id.MatchString(e.ID) || !reference.MatchString(e.Model) || seen[e.ID] || seen[e.Model] {
			t.Errorf("id %s or reference %s is malformed or not unique", e.ID, e.Model)
		}
		seen[e.ID], seen[e.Model] = true, true
		for _, name := range []string{e.ID, e.Model} {
			if found, ok := catalogue.Find(name); !ok || found.ID != e.ID {
				t.Errorf("%s is not found", name)
			}
		}
		if e.Name == "" || e.Description == "" || !e.Has(e.Latest()) || e.Has("0.0.0") {
			t.Errorf("entry %+v: want a name, a description and its latest version", e)
		}
		if (e.Type == document.TypeApplication) != (e.TrafficType != "") {
			t.Errorf("%s is of type %s and traffic type %q", e.Model, e.Type, e.TrafficType)
		}
		if (e.Type == document.TypeNIC) != (e.Transport != "") {
			t.Errorf("%s is of type %s and has the transport %q", e.Model, e.Type, e.Transport)
		}
		_, major, _ := strings.Cut(e.Model, "-v")
		for _, v := range e.Versions {
			if !number.MatchString(v.Number) || !strings.HasPrefix(v.Number, major+".") || v.CreatedAt.IsZero() || v.Notes == "" ||
				!slices.Contains([]string{catalogue.Stable, catalogue.Beta, catalogue.Deprecated}, v.Status) {
				t.Errorf("%s: version %+v has an empty or malformed field", e.Model, v)
			}
		}
	}
	if _, ok := catalogue.Find("nothing-v1"); ok {
		t.Error("Find returns an entry for an unknown model")
	}
}

// TestIDs: a model keeps its id.
func TestIDs(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for _, e := range catalogue.Entries() {
		got[strings.TrimPrefix(e.ID, "model_0000000000e00800000000000")] = e.Model
	}
	want := map[string]string{
		"1": "traffic-generator-v1", "2": "roce-nic-v1", "3": "pod-v1", "4": "leaf-rack-v1", "5": "gpu-v1",
		"6": "gpu-server-v1", "7": "ethernet-layer-v1", "8": "clos-switch-v1", "9": "chakra-workload-v1",
		"a": "trimming-nic-v1", "b": "ideal-nic-v1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	e := catalogue.Entry{Versions: []catalogue.Version{
		{Number: "1.0.0", Status: catalogue.Deprecated}, {Number: "1.1.0", Status: catalogue.Stable}, {Number: "1.2.0", Status: catalogue.Beta},
	}}
	for asked, want := range map[string]string{"": "1.1.0", "1.0.0": "1.0.0", "1.2.0": "1.2.0", "1.3.0": ""} {
		if got, known := e.Version(asked); got.Number != want || known != (want != "") {
			t.Errorf("version %q is %v, %v; want %q", asked, got, known, want)
		}
	}
	if e.Latest() != "1.1.0" {
		t.Errorf("latest version %s, want 1.1.0, the newest stable one", e.Latest())
	}
}

// TestParameters: every parameter has a description, and every number has a
// range that contains its default.
func TestParameters(t *testing.T) {
	t.Parallel()
	check := func(model string, parameters []catalogue.Parameter) {
		for _, p := range parameters {
			if p.Description == "" || p.Group == "" {
				t.Errorf("%s %s has no description or no group", model, p.Path)
			}
			value, isNumber := p.Default.Value.(float64)
			if isNumber != (p.Min != nil && p.Max != nil) {
				t.Errorf("%s %s: want a range for a number, and none for other types", model, p.Path)
			}
			if text, isText := p.Default.Value.(string); p.Enum != nil && (!isText || p.Enum[0] != text) {
				t.Errorf("%s %s: default %v, want the first of %v", model, p.Path, p.Default.Value, p.Enum)
			}
			if !isNumber {
				continue
			}
			if p.Min.Type != p.Default.Type || p.Max.Type != p.Default.Type {
				t.Errorf("%s %s: the range is of type %s to %s, the default of %s", model, p.Path, p.Min.Type, p.Max.Type, p.Default.Type)
			}
			if p.Min.Unit == p.Default.Unit && value < p.Min.Value.(float64) || p.Max.Unit == p.Default.Unit && value > p.Max.Value.(float64) {
				t.Errorf("%s %s: default %v is not in [%v, %v]", model, p.Path, value, p.Min.Value, p.Max.Value)
			}
		}
	}
	for _, e := range catalogue.Entries() {
		check(e.Model, e.Parameters)
	}
	check("the global parameters", catalogue.Globals())
}

// TestDefaultsAreValid: a component of any model has no finding about its
// parameters if they all have their defaults.
func TestDefaultsAreValid(t *testing.T) {
	t.Parallel()
	d := &document.Document{GlobalParameters: document.Params{}}
	for _, e := range catalogue.Entries() {
		name := e.Type + "-" + e.TrafficType + e.Transport
		switch catalogue.Category(e.Type) {
		case catalogue.CategoryContainer:
			d.Containers = append(d.Containers, e.Container(name, e.Latest()))
		case catalogue.CategoryApplication:
			d.Applications = append(d.Applications, e.Application(name, e.Latest()))
		case catalogue.CategoryLayer:
			d.Links = append(d.Links, e.Component(name, e.Latest()))
		default:
			d.Components = append(d.Components, e.Component(name, e.Latest()))
		}
	}
	if err := validation.Complete(d); err != nil {
		t.Fatal(err)
	}
	for _, f := range validation.Check(d, validation.Attachments{}) {
		if f.Parameter != "" || f.Code == "UNKNOWN_MODEL" || f.Code == "CONSTRAINT_VIOLATION" {
			t.Errorf("unexpected finding %+v", f)
		}
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	entry, _ := catalogue.Find("roce-nic-v1")
	set := document.Leaf{Value: 1500.0, Type: "bytes", Unit: "B"}
	p := document.Params{
		"Transport":        {Branch: document.Params{"MSS": {Leaf: &set}}},
		"NetworkInterface": {Leaf: &set}, // a leaf instead of a branch is left for validation to report
	}
	catalogue.Fill(p, entry.Parameters)
	transport := p["Transport"].Branch
	if diff := cmp.Diff(&set, transport["MSS"].Leaf); diff != "" {
		t.Errorf("MSS was set but is replaced (-set +got):\n%s", diff)
	}
	if transport["HeaderSize"].Leaf == nil || p["NumDownLinks"].Leaf == nil || p["NetworkInterface"].Leaf == nil {
		t.Errorf("parameters %v: want HeaderSize and NumDownLinks added, and NetworkInterface kept", p)
	}
	p.SetRankCount(8)
	if got := p["ChakraConfiguration"].Branch["NumOfChakraFiles"].Value; got != 8.0 {
		t.Errorf("rank count %v, want 8", got)
	}
}

// TestDescribe: a described leaf has its own value and the model's definition, in
// which the default is a string (document 1, Versioning item 8).
func TestDescribe(t *testing.T) {
	t.Parallel()
	entry, _ := catalogue.Find("roce-nic-v1")
	set := document.Leaf{Value: 1500.0, Type: "bytes", Unit: "B"}
	own := document.Leaf{Value: true, Type: "bool"}
	text, err := json.Marshal(catalogue.Describe(document.Params{
		"Transport": {Branch: document.Params{"MSS": {Leaf: &set}}}, "Own": {Leaf: &own},
	}, entry.Parameters))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"Own":{"value":true,"type":"bool"},"Transport":{"MSS":{"value":1500,"type":"bytes","unit":"B","default":"4096","defaultUnit":"B",` +
		`"description":"largest payload of a packet","min":{"value":1,"unit":"B"},"max":{"value":9216,"unit":"B"},"group":"Transport"}}}`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("described parameters (-want +got):\n%s", diff)
	}
}
