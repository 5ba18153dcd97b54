package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// record is a row of a reference table, by column name.
type record map[string]string

// records reads a reference table.
func records(dir, name string) ([]record, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it is only read
	all, err := csv.NewReader(f).ReadAll()
	if err != nil || len(all) == 0 {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var out []record
	for _, fields := range all[1:] {
		r := record{}
		for i, column := range all[0] {
			r[column] = fields[i]
		}
		out = append(out, r)
	}
	return out, nil
}

// number is a column's; a table without it, or with something else in it, is
// told by name.
func (r record) number(column string) (float64, error) {
	v, err := strconv.ParseFloat(r[column], 64)
	if err != nil {
		return 0, fmt.Errorf("column %s: %w", column, err)
	}
	return v, nil
}

// numbers are those of several columns, in their order.
func (r record) numbers(columns ...string) ([]float64, error) {
	var out []float64
	for _, c := range columns {
		v, err := r.number(c)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}
