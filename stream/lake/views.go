package lake

import (
	_ "embed"
	"fmt"
	"strings"

	"netsim/stream/tables"
)

// view is a view of the lake, in DuckDB's SQL.
type view struct{ name, sql string }

//go:embed views.sql
var viewsSQL string

// allViews returns the views of views.sql and one for each event type.
func allViews(of []*tables.Table) []view {
	var all []view
	for _, part := range strings.Split(viewsSQL, "-- view: ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		var lines []string
		for line := range strings.Lines(rest) {
			if !strings.HasPrefix(line, "--") {
				lines = append(lines, line)
			}
		}
		all = append(all, view{name, strings.TrimSuffix(strings.TrimSpace(strings.Join(lines, "")), ";")})
	}
	for _, t := range of {
		all = append(all, eventViews(t)...)
	}
	return all
}

// eventViews returns a view for each event type of a table: the columns of the frame,
// and those that the type has, without the type's name as prefix.
func eventViews(t *tables.Table) []view {
	var types []string
	members := map[string][]tables.Column{}
	var frame []tables.Column
	for _, c := range t.Columns {
		if !c.Nullable || len(c.Events) == 0 {
			frame = append(frame, c)
		}
		for _, event := range c.Events {
			if members[event] == nil {
				types = append(types, event)
			}
			members[event] = append(members[event], c)
		}
	}
	var all []view
	for _, event := range types {
		name := viewName(event)
		var list []string
		named := map[string]bool{}
		for _, c := range frame {
			if c.Name != "type" && c.Name != "data" {
				list, named[c.Name] = append(list, quote(c.Name)), true
			}
		}
		_, own, _ := strings.Cut(name, "_") // configuration_reference_set: the columns have the prefix reference_set_
		for _, c := range members[event] {
			short, cut := strings.CutPrefix(c.Name, own+"_")
			if !cut || named[short] {
				short = c.Name
			}
			named[short] = true
			list = append(list, quote(c.Name)+" AS "+quote(short))
		}
		all = append(all, view{name, fmt.Sprintf("SELECT %s FROM %s WHERE type = '%s'", strings.Join(list, ", "), quote(t.Name), event)})
	}
	return all
}

// viewName returns the name of an event type's view: simulation_started for
// netsim.simulation.started.v1, and simulation_started_v2 for a version 2.
func viewName(event string) string {
	name := strings.ReplaceAll(strings.TrimPrefix(event, "netsim."), ".", "_")
	return strings.TrimSuffix(name, "_v1")
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
