package plan_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/runs/studies/plan"
	"netsim/simulator/document"
	"netsim/simulator/presets"
)

// curated returns the documents of the curated templates by name.
func curated(t *testing.T) map[string]string {
	t.Helper()
	list, err := presets.Curated()
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, c := range list {
		text, err := document.Canonical(c.Document)
		if err != nil {
			t.Fatal(err)
		}
		texts[c.Name] = text
	}
	return texts
}

const (
	seed   = "globalParameters.SimulationParameters.RandomSeed.value"
	origin = "Leaf-spine, 64 servers, non-blocking"
	other  = "Leaf-spine, 64 servers, 4:1 oversubscribed"
)

// sources returns the sources of a study of a template's document.
func sources(t *testing.T) *plan.Sources {
	t.Helper()
	templates := curated(t)
	return &plan.Sources{
		Duration: "1s", Document: templates[origin], Traceset: "ts_own", Templates: templates,
		Tracesets: map[string]plan.TracesetRef{"ts_own": {Ranks: 64}, "ts_small": {Ranks: 8}},
	}
}

func axis(field string, values ...any) plan.Axis {
	a := plan.Axis{Field: field}
	for _, v := range values {
		text, _ := json.Marshal(v) //nolint:errchkjson // they are texts and numbers
		a.Values = append(a.Values, string(text))
	}
	return a
}

// points returns the documents of all points of a grid.
func points(t *testing.T, axes ...plan.Axis) (all []plan.Configured) {
	t.Helper()
	p, err := plan.New(axes, plan.Grid, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := sources(t)
	for point := range p.Points() {
		c, err := s.Configured(p, point)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// TestAnUnchangedDocumentStays: a point that changes nothing in the document has its text,
// so that it takes the results of runs of the base.
func TestAnUnchangedDocumentStays(t *testing.T) {
	t.Parallel()
	base := sources(t).Document
	doc, err := document.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	doc.SetRankCount(64)
	want, err := document.Canonical(doc)
	if err != nil {
		t.Fatal(err)
	}
	for what, a := range map[string]plan.Axis{
		"duration": axis(plan.Duration, "1s"), "traceset": axis(plan.Traceset, "ts_own"),
		"template": axis(plan.Template, origin), "seed": axis(seed, 1),
	} {
		if diff := cmp.Diff(want, points(t, a)[0].Text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}

// TestATemplateKeepsWhatIsAttached: only the document is that of the template, and other
// axes apply to it in whatever order they are given.
func TestATemplateKeepsWhatIsAttached(t *testing.T) {
	t.Parallel()
	for _, axes := range [][]plan.Axis{
		{axis(plan.Template, other), axis(plan.Traceset, "ts_small"), axis(seed, 5)},
		{axis(seed, 5), axis(plan.Traceset, "ts_small"), axis(plan.Template, other)},
	} {
		c := points(t, axes...)[0]
		doc, err := document.Parse(curated(t)[other])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(doc.Topology, c.Document.Topology); diff != "" {
			t.Errorf("the topology (-template +point):\n%s", diff)
		}
		options, err := c.Document.Options(c.Duration)
		if err != nil || options.Seed != 5 || c.Traceset != "ts_small" || c.Ranks != 8 || c.Document.RankCount() != 8 {
			t.Errorf("the point has seed %d, traceset %s of %d ranks, and the document %d (%v)", options.Seed, c.Traceset, c.Ranks, c.Document.RankCount(), err)
		}
	}
}

// TestNetworksAreTold: the values of fields that are not of the network change nothing in
// it, and those of each that is change it.
func TestNetworksAreTold(t *testing.T) {
	t.Parallel()
	network := func(c *plan.Configured) [4]any {
		return [4]any{c.Document.Components, c.Document.Containers, c.Document.Links, c.Document.Topology}
	}
	for _, a := range []plan.Axis{
		axis(seed, 1, 2), axis(plan.Duration, "1s", "2s"), axis(plan.Traceset, "ts_own", "ts_small"),
		axis("applications[0].typedParameters.ChakraConfiguration.CommCollectiveSynchronization.value", true, false),
		axis(plan.Template, origin, other), axis("components[0].typedParameters.NetworkInterface.TransmissionMedium.Delay.value", 1, 2),
		axis("topology.components[0].count", 1, 2),
	} {
		both := points(t, a)
		if both[0].Text == both[1].Text && both[0].Duration == both[1].Duration {
			t.Errorf("the values of %s change nothing", a.Field)
		}
		if equal := cmp.Equal(network(&both[0]), network(&both[1])); equal == plan.OfNetwork(a.Field) {
			t.Errorf("%s is of the network: %t, and its values make equal networks: %t", a.Field, plan.OfNetwork(a.Field), equal)
		}
	}
}

// text returns the canonical text of a document.
func text(t *testing.T, d *document.Document) string {
	t.Helper()
	s, err := document.Canonical(d)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
