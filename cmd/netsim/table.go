package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"netsim/api"
	"netsim/cmd/table"
)

// listing has the options of a command that prints a list.
type listing struct {
	Limit int  `help:"Most rows to print." default:"100" placeholder:"ROWS"`
	JSON  bool `help:"Print JSON instead of a table."`
}

// Validate implements kong.Validatable.
func (l listing) Validate() error {
	if l.Limit < 1 {
		return errors.New("--limit must be at least 1")
	}
	return nil
}

// rest returns a sentence when some rows are not shown, or "".
func rest(rows int, total int64) string {
	if int64(rows) == total {
		return ""
	}
	return fmt.Sprintf("%d of %d rows; --limit shows more\n", rows, total)
}

// printTable is [table.Write] to standard output.
func printTable(none string, headings string, rows [][]string) error {
	return table.Write(os.Stdout, none, headings, rows)
}

// printList prints a list as JSON. An empty list is [].
func printList[T any](list []T) error { return printJSON(append([]T{}, list...)) }

func printJSON(value any) error {
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(value)
}

func number[N int | int32 | int64](n N) string { return strconv.FormatInt(int64(n), 10) }

// age formats a duration with at most its two greatest units, such as 4d 2h. It returns
// "" for 0 and less.
func age(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d <= 0:
		return ""
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm %ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh %dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd %dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}

// since returns the age of a time, or "" for nil.
func since(t *api.Timestamp) string {
	if t == nil {
		return ""
	}
	return age(time.Since(t.Time).Seconds())
}

// short cuts a text to the width of a cell.
func short(text string) string {
	const width = 80
	if runes := []rune(text); len(runes) > width {
		return string(runes[:width-1]) + "…"
	}
	return text
}
