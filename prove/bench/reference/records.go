// Package reference reads tables with results of other simulators, and converts their
// cases to runs as a client of the service requests them.
package reference

import (
	"embed"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// Record is a row of a reference table, by column name.
type Record map[string]string

// Dir is the directory of the tables, relative to the directory prove.
const Dir = "../simulator/engine/testdata"

// Records reads a table in dir. It returns errors of the file and of its CSV.
func Records(dir, name string) ([]Record, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // the file is only read
	return parse(name, f)
}

// Sprayed, Hashed and Transports are the tables of our own rows. README.md describes how
// they were made.
const (
	Sprayed = "htsim_sprayed.csv"
	Hashed  = "htsim_hashed.csv"
	// Transports has rows of lossless and of trimming NICs with other parameters, for which
	// no constant of the model was fitted.
	Transports = "htsim_transports.csv"
	// Later has rows of trimming NICs with other parameters, also with small packets.
	Later = "htsim_later.csv"
)

//go:embed htsim_sprayed.csv htsim_hashed.csv htsim_transports.csv htsim_later.csv
var own embed.FS

// Own reads a table of our own rows.
func Own(name string) ([]Record, error) {
	f, err := own.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // the file is only read
	return parse(name, f)
}

func parse(name string, from io.Reader) ([]Record, error) {
	all, err := csv.NewReader(from).ReadAll()
	if err != nil || len(all) == 0 {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var out []Record
	for _, fields := range all[1:] {
		r := Record{}
		for i, column := range all[0] {
			r[column] = fields[i]
		}
		out = append(out, r)
	}
	return out, nil
}

// Number returns the number in a column. The error names a column that is missing or
// is not a number.
func (r Record) Number(column string) (float64, error) {
	v, err := strconv.ParseFloat(r[column], 64)
	if err != nil {
		return 0, fmt.Errorf("column %s: %w", column, err)
	}
	return v, nil
}

// Numbers returns the numbers in several columns, in the given order.
func (r Record) Numbers(columns ...string) ([]float64, error) {
	var out []float64
	for _, c := range columns {
		v, err := r.Number(c)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}
