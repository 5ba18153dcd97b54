package catalogue_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/simulator/catalogue"
	"netsim/simulator/design"
	"netsim/simulator/validation"
)

func TestEntries(t *testing.T) {
	t.Parallel()
	reference := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*-v[0-9]+$`)
	var models []string
	for _, e := range catalogue.Entries() {
		models = append(models, e.Model)
		if !reference.MatchString(e.Model) || e.Latest() == "" {
			t.Errorf("entry %+v", e)
		}
		if found, ok := catalogue.Find(e.Model); !ok || found.Type != e.Type {
			t.Errorf("%s is not found", e.Model)
		}
		if (e.Type == design.TypeApplication) != (e.TrafficType != "") {
			t.Errorf("%s is of type %s and traffic type %q", e.Model, e.Type, e.TrafficType)
		}
	}
	if !slices.IsSorted(models) || len(slices.Compact(slices.Clone(models))) != len(models) {
		t.Errorf("models %v", models)
	}
	if _, ok := catalogue.Find("nothing-v1"); ok {
		t.Error("found what is not there")
	}
}

// TestDefaultsAreValid: a component of every model with nothing but defaults
// has nothing said against its parameters.
func TestDefaultsAreValid(t *testing.T) {
	t.Parallel()
	d := &design.Document{GlobalParameters: design.Params{}}
	for _, e := range catalogue.Entries() {
		name := e.Type + "-" + e.TrafficType
		switch e.Type {
		case design.TypeRack, design.TypePod:
		case design.TypeApplication:
			d.Applications = append(d.Applications, design.Application{Type: e.Type, TrafficType: e.TrafficType, Name: name, Model: e.Model, Version: e.Latest()})
		case design.TypeLayer:
			d.Links = append(d.Links, design.Component{Type: e.Type, Name: name, Model: e.Model, Version: e.Latest()})
		default:
			d.Components = append(d.Components, design.Component{Type: e.Type, Name: name, Model: e.Model, Version: e.Latest()})
		}
	}
	if err := validation.Complete(d); err != nil {
		t.Fatal(err)
	}
	for _, f := range validation.Check(d, validation.Attachments{}) {
		if f.Parameter != "" || f.Code == "UNKNOWN_MODEL" || f.Code == "CONSTRAINT_VIOLATION" {
			t.Errorf("%+v", f)
		}
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	entry, _ := catalogue.Find("roce-nic-v1")
	set := design.Leaf{Value: 1500.0, Type: "bytes", Unit: "B"}
	p := design.Params{
		"Transport":        {Branch: design.Params{"MSS": {Leaf: &set}}},
		"NetworkInterface": {Leaf: &set}, // a leaf where a branch belongs stays, for validation to find
	}
	catalogue.Fill(p, entry.Parameters)
	transport := p["Transport"].Branch
	if diff := cmp.Diff(&set, transport["MSS"].Leaf); diff != "" {
		t.Errorf("what was set is replaced:\n%s", diff)
	}
	if transport["HeaderSize"].Leaf == nil || p["NumDownLinks"].Leaf == nil || p["NetworkInterface"].Leaf == nil {
		t.Errorf("%v", p)
	}
	catalogue.SetRankCount(p, 8)
	if got := p["ChakraConfiguration"].Branch["NumOfChakraFiles"].Value; got != 8.0 {
		t.Errorf("rank count %v", got)
	}
}
