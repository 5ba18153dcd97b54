package lake

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"netsim/stream/tables"
)

// view is a view of the lake, in DuckDB's SQL.
type view struct {
	name, sql string
	comment   string
	columns   []viewColumn
}

// viewColumn is a column of a view.
type viewColumn struct{ name, comment string }

//go:embed views.sql
var viewsSQL string

// allViews returns the views of views.sql and one for each event type.
func allViews(of []*tables.Table) []view {
	var all []view
	for _, part := range strings.Split(viewsSQL, "-- view: ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		v := view{name: name}
		var lines, said []string
		for line := range strings.Lines(rest) {
			if column, is := strings.CutPrefix(line, "-- | "); is {
				v.describe(of, column)
			} else if text, is := strings.CutPrefix(line, "-- "); is {
				said = append(said, strings.TrimSpace(text))
			} else {
				lines = append(lines, line)
			}
		}
		v.sql, v.comment = strings.TrimSuffix(strings.TrimSpace(strings.Join(lines, "")), ";"), strings.Join(said, " ")
		all = append(all, v)
	}
	for _, t := range of {
		for _, v := range eventViews(t) { // several families have the type netsim.log.sealed.v1
			if at := slices.IndexFunc(all, func(other view) bool { return other.name == v.name }); at >= 0 {
				all[at].sql += " UNION ALL " + v.sql
			} else {
				all = append(all, v)
			}
		}
	}
	return all
}

// describe adds the column of a line "name | meaning", or those of a line
// "of table | names", which mean what they do in the table.
func (v *view) describe(of []*tables.Table, line string) {
	name, meaning, _ := strings.Cut(strings.TrimSpace(line), " | ")
	table, inherited := strings.CutPrefix(name, "of ")
	if !inherited {
		v.columns = append(v.columns, viewColumn{name, meaning})
		return
	}
	for _, t := range of {
		for _, name := range strings.Fields(meaning) {
			if at := t.Index(name); t.Name == table && at >= 0 {
				v.columns = append(v.columns, viewColumn{name, t.Columns[at].Comment()})
			}
		}
	}
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
		var columns []viewColumn
		named := map[string]bool{}
		for _, c := range frame {
			if c.Name != "type" && c.Name != "data" {
				list, named[c.Name] = append(list, quote(c.Name)), true
				columns = append(columns, viewColumn{c.Name, c.Comment()})
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
			columns = append(columns, viewColumn{short, c.Comment()})
		}
		all = append(all, view{
			name: name, sql: fmt.Sprintf("SELECT %s FROM %s WHERE type = '%s'", strings.Join(list, ", "), quote(t.Name), event),
			comment: tables.MeaningOf(event), columns: columns,
		})
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
