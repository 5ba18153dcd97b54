// Package table prints tables for people. The commands of netsim share it.
package table

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
)

// Write prints rows under headings, which are separated by blanks, or the sentence none when
// there are no rows. Unprintable characters become spaces, and empty cells become dashes.
func Write(w io.Writer, none, headings string, rows [][]string) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, none)
		return err
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if headings != "" {
		fmt.Fprintln(out, strings.ReplaceAll(headings, " ", "\t")) //nolint:errcheck // Flush returns the error
	}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			if cells[i] = Printable(cell); cell == "" {
				cells[i] = "-"
			}
		}
		fmt.Fprintln(out, strings.Join(cells, "\t")) //nolint:errcheck // Flush returns the error
	}
	return out.Flush()
}

// Printable replaces the unprintable characters of a text by spaces.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}

// Size formats a number of bytes with a unit, such as 1.5 MiB.
func Size(bytes int64) string {
	const units = "KMGTPE"
	if bytes < 1024 {
		return fmt.Sprintf("%d B", bytes)
	}
	value, unit := float64(bytes)/1024, 0
	for value >= 1024 {
		value, unit = value/1024, unit+1
	}
	return fmt.Sprintf("%.1f %ciB", value, units[unit])
}
