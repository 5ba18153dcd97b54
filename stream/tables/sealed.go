package tables

import (
	_ "embed"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"netsim/events"
)

// sealed lists the columns of members: table, id, name and type. It only grows.
//
//go:embed testdata/columns.txt
var sealed string

// column is a line of sealed.
type column struct {
	table string
	id    int32
	name  string
	kind  Type
}

func (c column) String() string { return fmt.Sprintf("%s %d %s %s", c.table, c.id, c.name, c.kind) }

// parse reads the sealed list.
func parse(text string) []column {
	var list []column
	for line := range strings.Lines(text) {
		var c column
		if n, err := fmt.Sscan(line, &c.table, &c.id, &c.name, &c.kind); n != 4 || err != nil {
			panic(fmt.Sprintf("tables: the sealed columns have the line %q", line))
		}
		list = append(list, c)
	}
	return list
}

// member is a member of the data of an event type.
type member struct {
	event string
	name  string // in the JSON
	kind  Type
}

// build makes the tables of sealed columns. It also returns the columns that members
// of events need and that are not sealed, as lines to append.
func build(list []column) (tables []*Table, missing []string) {
	of := membersByFamily()
	for _, family := range events.Families() {
		t := &Table{Name: nameOf(family), Family: family, Columns: frame(), members: map[string]*members{}}
		for _, c := range list {
			if c.table != t.Name {
				continue
			}
			if int(c.id) != len(t.Columns)+1 {
				panic("tables: the sealed column " + c.String() + " is not the next of its table")
			}
			t.Columns = append(t.Columns, Column{ID: c.id, Name: c.name, Type: c.kind, Nullable: true})
		}
		for _, m := range of[family] {
			at, added := t.place(m)
			if added {
				missing = append(missing, column{t.Name, t.Columns[at].ID, t.Columns[at].Name, m.kind}.String())
			}
			c := &t.Columns[at]
			c.Events, c.members = append(c.Events, m.event), append(c.members, m.name)
			if t.members[m.event] == nil {
				t.members[m.event] = new(members)
			}
			t.members[m.event].add(m.name, at, m.kind)
		}
		tables = append(tables, t)
	}
	return tables, missing
}

// place returns the column of a member, and whether it is a new one.
func (t *Table) place(m member) (index int, added bool) {
	name := snake(m.name)
	for _, candidate := range []string{name, short(m.event) + "_" + name, strings.ReplaceAll(m.event[len("netsim."):], ".", "_") + "_" + name} {
		if candidate == name && reserved(name) {
			continue
		}
		at := t.Index(candidate)
		if at < 0 {
			t.Columns = append(t.Columns, Column{ID: int32(len(t.Columns) + 1), Name: candidate, Type: m.kind, Nullable: true})
			return len(t.Columns) - 1, true
		}
		if at >= frameColumns && t.Columns[at].Type == m.kind {
			return at, false
		}
	}
	panic(fmt.Sprintf("tables: no name is left for the member %s of %s", m.name, m.event))
}

// reserved reports whether a name cannot be that of a column without quotes.
func reserved(name string) bool {
	return slices.Contains([]string{"all", "as", "case", "check", "column", "default", "desc", "distinct", "end", "for", "from", "group", "having", "in", "limit", "not", "offset", "on", "order", "primary", "references", "select", "table", "to", "union", "unique", "user", "using", "when", "where", "window", "with"}, name)
}

// short returns an event type's own name: reference_set of
// netsim.configuration.reference_set.v1.
func short(eventType string) string {
	parts := strings.Split(eventType, ".")
	return parts[len(parts)-2]
}

// snake returns a member's name in snake case: billingItemId is billing_item_id.
func snake(name string) string {
	var out strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

// membersByFamily lists the members of every family's event types, in the order of
// the registry. The type that ends a partition's unsealed part is in all families.
func membersByFamily() map[events.Family][]member {
	of := map[events.Family][]member{}
	for _, zero := range events.Types() {
		list := membersOf(zero.EventType(), reflect.TypeOf(zero))
		for _, family := range familiesOf(zero) {
			of[family] = append(of[family], list...)
		}
	}
	return of
}

// familiesOf returns the families whose streams have events of a type.
func familiesOf(zero events.Data) []events.Family {
	switch strings.Split(zero.EventType(), ".")[1] {
	case "workspace", "webhook":
		return []events.Family{events.Workspaces}
	case "configuration":
		return []events.Family{events.Configurations}
	case "simulation", "study":
		return []events.Family{events.Simulations}
	case "traceset":
		return []events.Family{events.Tracesets}
	case "mapping_file", "upload":
		return []events.Family{events.MappingFiles}
	case "billing":
		return []events.Family{events.Billing}
	case "checkpoint", "operation":
		return []events.Family{events.Checkpoints}
	case "log":
		if _, every := zero.(events.LogSealed); every {
			return events.Families()
		}
		return []events.Family{events.Checkpoints}
	}
	panic("tables: " + zero.EventType() + " belongs to no family")
}

// membersOf lists the members of the data of an event type. Those of embedded structs
// are its own.
func membersOf(event string, of reflect.Type) []member {
	var list []member
	for i := range of.NumField() {
		f := of.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous {
			list = append(list, membersOf(event, f.Type)...)
			continue
		}
		list = append(list, member{event, name, typeOf(event, name, f.Type)})
	}
	return list
}

// typeOf returns the type of a member's column.
func typeOf(event, name string, of reflect.Type) Type {
	switch {
	case of == reflect.TypeFor[time.Time]():
		return Timestamp
	case of.Kind() == reflect.Int64:
		return Integer
	case of.Kind() == reflect.Bool:
		return Boolean
	case of.Kind() == reflect.String:
		return textType(event, name)
	case of.Kind() == reflect.Slice, of.Kind() == reflect.Struct:
		return JSON
	}
	panic(fmt.Sprintf("tables: the member %s of %s has the type %s", name, event, of))
}

// textType returns the type of a member that is a string in JSON. Amounts and days
// are strings there.
func textType(event, name string) Type {
	if !strings.HasPrefix(event, "netsim.billing.") {
		return Text
	}
	switch name {
	case "amount", "previousAmount", "rateAmount", "cost", "previousCost", "dayPrice", "unitDays":
		return Decimal
	case "date", "startDate", "endDate":
		return Date
	}
	return Text
}
