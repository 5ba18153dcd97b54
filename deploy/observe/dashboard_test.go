package observe_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"netsim/deploy/observe"
)

// dashboard has the parts of dashboard.json that the tests check. Its panels are decoded
// strictly, so a misspelt member is an error.
type dashboard struct {
	UID, Title    string
	SchemaVersion int
	Panels        []json.RawMessage
	Templating    struct {
		List []struct{ Name, Type string }
	}
}

type source struct{ Type, UID string }

type panel struct {
	ID          int
	Type        string
	Title       string
	Description string
	Collapsed   bool
	Panels      []any
	Datasource  source
	GridPos     struct{ X, Y, W, H int }
	Targets     []struct {
		RefID, Expr, LegendFormat string
		Range                     bool
		Datasource                source
	}
	FieldConfig struct {
		Defaults struct {
			Unit   string
			Min    int
			Custom map[string]any
		}
		Overrides []any
	}
	Options map[string]map[string]any
}

func readDashboard(t *testing.T) []panel {
	t.Helper()
	text, err := os.ReadFile("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	if made, err := observe.Dashboard(); err != nil || !bytes.Equal(made, text) {
		t.Errorf("dashboard.json is not what go generate ./deploy/observe writes: %v", err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if d.UID == "" || d.Title == "" || d.SchemaVersion < 36 || len(d.Templating.List) == 0 || d.Templating.List[0].Type != "datasource" {
		t.Errorf("the dashboard is %q with the uid %q, the schema version %d and the variables %v", d.Title, d.UID, d.SchemaVersion, d.Templating.List)
	}
	var panels []panel
	for _, raw := range d.Panels {
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.DisallowUnknownFields()
		var p panel
		if err := decoder.Decode(&p); err != nil {
			t.Fatalf("%v: %s", err, raw)
		}
		panels = append(panels, p)
	}
	return panels
}

// TestDashboard: the panels have unique ids and places that do not overlap, use the
// dashboard's data source, and their queries use metrics and labels that exist.
func TestDashboard(t *testing.T) {
	t.Parallel()
	names := newKnown(readRules(t))
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, p := range readDashboard(t) {
		if ids[p.ID] || p.Title == "" {
			t.Errorf("the panel %q has the id %d, which another one has", p.Title, p.ID)
		}
		ids[p.ID] = true
		at := p.GridPos
		if at.X < 0 || at.W < 1 || at.H < 1 || at.X+at.W > 24 {
			t.Errorf("%s is at %v, outside of Grafana's 24 columns", p.Title, at)
		}
		for x := at.X; x < at.X+at.W; x++ {
			for y := at.Y; y < at.Y+at.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" {
					t.Fatalf("%s overlaps %s", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 || p.Datasource.UID != "${datasource}" {
			t.Errorf("%s has the unit %q, %d queries and the data source %v", p.Title, p.FieldConfig.Defaults.Unit, len(p.Targets), p.Datasource)
		}
		for _, q := range p.Targets {
			names.check(t, p.Title, plain(q.Expr))
			if !strings.Contains(q.Expr, `job="$job"`) && !strings.Contains(q.Expr, "netsim:") && !strings.Contains(q.Expr, "ALERTS") {
				t.Errorf("%s does not select the job: %s", p.Title, q.Expr)
			}
		}
	}
}

// plain replaces Grafana's variables in an expression.
func plain(expression string) string {
	return strings.NewReplacer("$job", "netsim", "$__rate_interval", "1m").Replace(expression)
}
