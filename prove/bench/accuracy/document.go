package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// These lines of docs/engine.md enclose the generated tables.
const (
	begin = "<!-- go generate -C prove ./bench/accuracy -->\n"
	end   = "<!-- end -->\n"
)

// writeDocument puts the tables between the markers of a file.
func writeDocument(name string, sections []section) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text, err = between(text, tables(sections))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.WriteFile(name, text, 0o644)
}

// between replaces the text between the markers.
func between(text, tables []byte) ([]byte, error) {
	before, rest, found := bytes.Cut(text, []byte(begin))
	_, after, ended := bytes.Cut(rest, []byte(end))
	if !found || !ended {
		return nil, fmt.Errorf("without the lines %q and %q", begin, end)
	}
	return slices.Concat(before, []byte(begin), tables, []byte(end), after), nil
}

// tables returns the Markdown for the document: the summary, the rows that were not
// compared, the bands, and the errors of the packet-level rows.
func tables(sections []section) []byte {
	var out bytes.Buffer
	fmt.Fprint(&out, "| compared with | rows | bound | result |\n|---|---|---|---|\n")
	for i := range sections {
		s := &sections[i]
		fmt.Fprintf(&out, "| %s | %d | %s | %s |\n", s.Name, len(s.Rows), s.bound(), s.result())
	}
	fmt.Fprint(&out, "\n| not compared | rows | because of |\n|---|---|---|\n")
	for i := range sections {
		for _, reason := range slices.Sorted(maps.Keys(sections[i].Left)) {
			fmt.Fprintf(&out, "| %s | %d | %s |\n", sections[i].Name, sections[i].Left[reason], reason)
		}
	}
	printBands(&out, bandsOf(sections))
	for i := range sections {
		if s := &sections[i]; s.Unit == "us" && !s.Listed {
			fmt.Fprintf(&out, "\n%s, the error of the last completion:\n\n", s.Name)
			s.pivot(&out)
		}
	}
	return out.Bytes()
}

// pivot writes a table with a line for each case and a column for each
// oversubscription, which is the last part of a case's name.
func (s *section) pivot(out io.Writer) {
	var lines, columns []string
	cells := map[[2]string]string{}
	for i := range s.Rows {
		r := &s.Rows[i]
		at := strings.LastIndex(r.Case, ", ")
		line, column := r.Case[:at], r.Case[at+2:]
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
		if !slices.Contains(columns, column) {
			columns = append(columns, column)
		}
		cell := fmt.Sprintf("%+.2f %%", 100*r.off())
		if s.Near > 0 && r.off() == 0 {
			cell = "inside"
		}
		cells[[2]string{line, column}] = cell
	}
	fmt.Fprintf(out, "| case | %s |\n|---|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for _, line := range lines {
		fmt.Fprintf(out, "| %s |", line)
		for _, column := range columns {
			fmt.Fprintf(out, " %s |", cells[[2]string{line, column}])
		}
		fmt.Fprintln(out)
	}
}
