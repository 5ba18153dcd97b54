package client

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"netsim/cmd/table"
)

type simExplain struct {
	options
	simulation
}

// explained is the part of summary.json that says why a run takes as long as it does. Docs:
// docs/engine.md.
type explained struct {
	Limits []struct {
		Kind      string  `json:"kind"`
		Tier      string  `json:"tier"`
		Direction string  `json:"uldl"`
		Percent   float64 `json:"flowTimePercent"`
	} `json:"limitedBy"`
	Links []struct {
		Tier      string  `json:"tier"`
		Direction string  `json:"uldl"`
		Mean      float64 `json:"meanPercent"`
		Max       float64 `json:"maxPercent"`
	} `json:"linkUtilization"`
	Path *struct {
		Time  float64 `json:"timeUs"`
		Parts struct {
			Computation float64 `json:"computationPercent"`
			Sending     float64 `json:"sendingPercent"`
			Contention  float64 `json:"contentionPercent"`
			Latency     float64 `json:"latencyPercent"`
		} `json:"parts"`
	} `json:"criticalPath"`
	Reading []string `json:"reading"`
}

// Run explains a simulation.
func (c simExplain) Run(ctx context.Context, t *Terminal) error {
	return c.ask(ctx, t, func(ctx context.Context, s *session) (answer, error) {
		var x explained
		whole, err := s.summary(ctx, c.ID, &x)
		if err != nil {
			return answer{}, err
		}
		return answer{whole, func(w io.Writer) error { return x.draw(w, columns(t)) }}, nil
	})
}

const defaultColumns = 80

// columns returns the width to draw for.
func columns(t *Terminal) int {
	if t.Columns > 0 {
		return max(t.Columns, 40)
	}
	return defaultColumns
}

// draw draws the shares as bars, and says what they mean.
func (x explained) draw(w io.Writer, width int) error {
	var b strings.Builder
	if p := x.Path; p != nil {
		bars(&b, fmt.Sprintf("The critical path, %.6g us", p.Time), width, []share{
			{"computation", p.Parts.Computation}, {"sending", p.Parts.Sending}, {"contention", p.Parts.Contention}, {"latency", p.Parts.Latency},
		})
	}
	limits, links := []share{}, []share{}
	for _, l := range x.Limits {
		limits = append(limits, share{strings.Join(strings.Fields(l.Kind+" "+l.Tier+" "+l.Direction), " "), l.Percent})
	}
	for _, l := range x.Links {
		links = append(links, share{strings.TrimSpace(l.Tier + " " + l.Direction), l.Max})
	}
	bars(&b, "What limited the flows, by flow time", width, limits)
	bars(&b, "The busiest interface of each tier", width, links)
	for _, sentence := range x.Reading {
		fmt.Fprintln(&b, wrap(table.Printable(sentence), width))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// share is a part of a whole, in percent.
type share struct {
	name    string
	percent float64
}

// bars draws shares below a title, each as a line that is at most as wide as the terminal.
func bars(b *strings.Builder, title string, width int, shares []share) {
	if len(shares) == 0 {
		return
	}
	names := 0
	for _, s := range shares {
		names = max(names, utf8.RuneCountInString(s.name))
	}
	fmt.Fprintln(b, title)
	space := max(width-names-len("    100.0 %"), 10)
	for _, s := range shares {
		n := min(max(int(s.percent/100*float64(space)+0.5), 0), space)
		fmt.Fprintln(b, strings.TrimRight(fmt.Sprintf("  %-*s %5.1f %% %s", names, table.Printable(s.name), s.percent, strings.Repeat("#", n)), " "))
	}
	fmt.Fprintln(b)
}

// wrap breaks a text at blanks into lines of a width.
func wrap(text string, width int) string {
	var b strings.Builder
	at := 0
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case at == 0:
		case at+1+n > width:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}
