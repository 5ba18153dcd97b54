package lake

import (
	"fmt"
	"strings"

	"netsim/stream/tables"
)

// Sources returns the tables and views as sources of dbt, in YAML. They are in the
// database lake, as Attach names it.
func Sources() string {
	var out strings.Builder
	out.WriteString(`# The lake as sources of dbt, written by netsim lake sources.
version: 2
sources:
  - name: netsim
    description: Every fact of netsim's log, and views of them.
    database: lake
    schema: main
    tables:
`)
	all := tables.All()
	for _, t := range all {
		begin(&out, t.Name, tableComment(t))
		for _, c := range t.Columns {
			column(&out, c.Name, c.Comment())
			fmt.Fprintf(&out, "            data_type: %s\n", typeOf(c.Type))
			if !c.Nullable {
				out.WriteString("            constraints:\n              - type: not_null\n")
			}
		}
	}
	for _, v := range allViews(all) {
		begin(&out, v.name, v.comment)
		for _, c := range v.columns {
			column(&out, c.name, c.comment)
		}
	}
	return out.String()
}

func begin(out *strings.Builder, name, comment string) {
	fmt.Fprintf(out, "      - name: %s\n        description: %q\n        columns:\n", name, comment)
}

func column(out *strings.Builder, name, comment string) {
	fmt.Fprintf(out, "          - name: %s\n            description: %q\n", name, comment)
}
