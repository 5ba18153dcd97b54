// Package columns derives the columns of a SQL table from the struct of its rows. So
// only the struct and the table's DDL list the columns.
package columns

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"
)

// Columns are the columns of a table whose rows are of type R, in the order of
// the struct's fields. The first one is the key of a row.
type Columns[R any] struct{ all []column[R] }

type column[R any] struct {
	name     string // quoted
	kind     string // name of the PostgreSQL type in pg_type
	sent     string // type of the elements of array, if it is not kind
	nullable bool
	array    func(rows []*R) any                      // the values of all rows
	pointer  func(*R) any                             // pointer to the field of a row
	binary   func(out []byte, r reflect.Value) []byte // appends the value of a row, which is not a pointer, as COPY takes it
}

// Of derives the columns of R. Every exported field is a column, including the fields
// of embedded structs. The column's name is the field's db tag, or the field's name in
// snake case. A field with the name "-" is not a column. For structs of other
// packages, which have no db tags, names has pairs of a field and its column.
//
// Of uses reflection, so call it once for each type. It panics on a field whose type
// has no column type.
func Of[R any](names ...string) Columns[R] {
	named := map[string]string{}
	for i := 0; i < len(names); i += 2 {
		named[names[i]] = names[i+1]
	}
	var c Columns[R]
	for _, f := range reflect.VisibleFields(reflect.TypeFor[R]()) {
		name := snake(f.Name)
		if tag, ok := f.Tag.Lookup("db"); ok {
			name = tag
		}
		if other, ok := named[f.Name]; ok {
			name = other
		}
		if f.Anonymous || !f.IsExported() || name == "-" {
			continue
		}
		c.all = append(c.all, columnOf[R](f, pgx.Identifier{name}.Sanitize()))
	}
	return c
}

func columnOf[R any](f reflect.StructField, name string) column[R] {
	switch reflect.Zero(f.Type).Interface().(type) {
	case string:
		return typed[R](f.Index, name, "text", textOf)
	case *string:
		return optional[R](f.Index, name, "text", textOf)
	case int64:
		return typed[R](f.Index, name, "int8", int8Of)
	case *int64:
		return optional[R](f.Index, name, "int8", int8Of)
	case int32:
		return typed[R](f.Index, name, "int4", int4Of)
	case bool:
		return typed[R](f.Index, name, "bool", boolOf)
	case time.Time:
		return typed[R](f.Index, name, "timestamptz", timeOf)
	case *time.Time:
		return optional[R](f.Index, name, "timestamptz", timeOf)
	case []byte:
		return typed[R](f.Index, name, "bytea", byteaOf)
	case []int32:
		return int4s[R](f.Index, name)
	}
	panic(fmt.Sprintf("columns: field %s has the unsupported type %s", f.Name, f.Type))
}

func typed[R, T any](index []int, name, kind string, binary func([]byte, T) []byte) column[R] {
	of := func(r reflect.Value) *T { return r.FieldByIndex(index).Addr().Interface().(*T) }
	if len(index) == 1 { // FieldByIndex takes twice as long
		of = func(r reflect.Value) *T { return r.Field(index[0]).Addr().Interface().(*T) }
	}
	field := func(r *R) *T { return of(reflect.ValueOf(r).Elem()) }
	return column[R]{
		name: name, kind: kind,
		pointer: func(r *R) any { return field(r) },
		array: func(rows []*R) any {
			out := make([]T, len(rows))
			for i, r := range rows {
				out[i] = *field(r)
			}
			return out
		},
		binary: func(out []byte, r reflect.Value) []byte { return binary(out, *of(r)) },
	}
}

// optional is typed for a pointer, which is nil for NULL.
func optional[R, T any](index []int, name, kind string, binary func([]byte, T) []byte) column[R] {
	c := typed[R](index, name, kind, func(out []byte, value *T) []byte {
		if value == nil {
			return append(out, null...)
		}
		return binary(out, *value)
	})
	c.nullable = true
	return c
}

// int4s is typed for an array. In the array of a parameter each value is text, because
// PostgreSQL has no array of arrays of different lengths.
func int4s[R any](index []int, name string) column[R] {
	c := typed[R](index, name, "_int4", int4sOf)
	c.sent = "text"
	c.array = func(rows []*R) any {
		out := make([]string, len(rows))
		for i, r := range rows {
			text := []byte{'{'}
			for n, value := range *c.pointer(r).(*[]int32) {
				if n > 0 {
					text = append(text, ',')
				}
				text = strconv.AppendInt(text, int64(value), 10)
			}
			out[i] = string(append(text, '}'))
		}
		return out
	}
	return c
}

// snake turns AccountID into account_id.
func snake(name string) string {
	var b strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		begins := i > 0 && unicode.IsUpper(r) &&
			(!unicode.IsUpper(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		if begins {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// List returns the column names for a SELECT, each with the prefix.
func (c Columns[R]) List(prefix string) string {
	return c.join(func(_ int, one *column[R]) string { return prefix + one.name })
}

// Key returns the name of the first column.
func (c Columns[R]) Key() string { return c.all[0].name }

// KeyOf returns the first column of a row as text.
func (c Columns[R]) KeyOf(r *R) string {
	switch key := c.all[0].pointer(r).(type) {
	case *string:
		return *key
	case *int64:
		return strconv.FormatInt(*key, 10)
	default:
		panic(fmt.Sprintf("columns: the key %s has the unsupported type %s", c.Key(), c.all[0].kind))
	}
}

// Pointers returns pointers to the fields of a row, in the order of the columns.
func (c Columns[R]) Pointers(r *R) []any {
	pointers := make([]any, len(c.all))
	for i := range c.all {
		pointers[i] = c.all[i].pointer(r)
	}
	return pointers
}

// Size returns about how many bytes of memory a row takes.
func (c Columns[R]) Size(r *R) int {
	size := int(reflect.TypeFor[R]().Size())
	for i := range c.all {
		if kind := c.all[i].kind; kind != "text" && kind != "bytea" {
			continue
		}
		switch value := c.all[i].pointer(r).(type) {
		case *string:
			size += len(*value)
		case **string:
			if *value != nil {
				size += len(**value) + 16
			}
		case *[]byte:
			size += len(*value)
		}
	}
	return size
}

// Scan reads a row of all columns. It is a pgx.RowToFunc.
func (c Columns[R]) Scan(row pgx.CollectableRow) (R, error) {
	var r R
	err := row.Scan(c.Pointers(&r)...)
	return r, err
}

// From returns an item of a FROM clause with the rows in the parameters $1 to $n under
// the alias. Arrays returns these parameters.
func (c Columns[R]) From(alias string) string {
	return fmt.Sprintf("%s AS %s (%s)", c.unnest(), alias, c.List(""))
}

// Arrays returns the columns of the rows, each as an array.
func (c Columns[R]) Arrays(rows []*R) []any {
	arrays := make([]any, len(c.all))
	for i := range c.all {
		arrays[i] = c.all[i].array(rows)
	}
	return arrays
}

// Insert queues a statement that inserts the rows into the table. Without rows it
// queues nothing. The table may have an alias. conflict is the ON CONFLICT clause or
// "".
func (c Columns[R]) Insert(writes *Writes, table string, rows []*R, conflict string) {
	if len(rows) > 0 {
		values := c.join(func(_ int, one *column[R]) string {
			if one.sent != "" {
				return one.name + "::" + one.kind
			}
			return one.name
		})
		writes.Queue(fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s %s", table, c.List(""), values, c.From("new"), conflict), c.Arrays(rows)...)
	}
}

// Overwrite returns the ON CONFLICT clause with which a row replaces the row with the
// same key. The first columns, as many as keys, are the key.
func (c Columns[R]) Overwrite(keys int) string {
	key, rest := Columns[R]{c.all[:keys]}, Columns[R]{c.all[keys:]}
	return fmt.Sprintf("ON CONFLICT (%s) DO UPDATE SET %s", key.List(""),
		rest.join(func(_ int, one *column[R]) string { return one.name + " = excluded." + one.name }))
}

// Definition returns the definition of each column in the table's DDL: the quoted name,
// the name of the type in pg_type, and NOT NULL unless the field is a pointer.
func (c Columns[R]) Definition() []string {
	definition := make([]string, len(c.all))
	for i, one := range c.all {
		definition[i] = one.name + " " + one.kind
		if !one.nullable {
			definition[i] += " NOT NULL"
		}
	}
	return definition
}

func (c Columns[R]) unnest() string {
	return "unnest(" + c.join(func(i int, one *column[R]) string { return fmt.Sprintf("$%d::%s[]", i+1, cmp.Or(one.sent, one.kind)) }) + ")"
}

func (c Columns[R]) join(text func(int, *column[R]) string) string {
	texts := make([]string, len(c.all))
	for i := range c.all {
		texts[i] = text(i, &c.all[i])
	}
	return strings.Join(texts, ", ")
}
