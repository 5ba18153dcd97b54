package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/big"
	"strings"

	"netsim/cmd/table"
	"netsim/sdk/go/api"
)

type studyPareto struct {
	options
	study
}

// Run draws the points, and lists those of the front.
func (c studyPareto) Run(ctx context.Context, t *Terminal) error {
	return c.ask(ctx, t, func(ctx context.Context, s *session) (answer, error) {
		analysis, err := s.GetStudyAnalysis(ctx, c.ID, nil)
		if err != nil {
			return answer{}, err
		}
		if s.forProgram() {
			return answer{value: analysis}, nil
		}
		var marks []mark
		for point, err := range s.AllStudyResults(ctx, c.ID, api.GetStudyResultsParams{Status: new(string(api.StudyResultStatusCompleted))}) {
			if err != nil {
				return answer{}, err
			}
			if point.Figures != nil && point.Fabric != nil {
				marks = append(marks, mark{coordinate(point.Fabric.Price), float64(point.Figures.SimulatedTimePs), '.'})
			}
		}
		rows := [][]string{}
		for _, p := range analysis.Front {
			marks = append(marks, mark{coordinate(p.Fabric.Price), float64(p.SimulatedTimePs), '#'})
			rows = append(rows, []string{fmt.Sprint(p.Point), simulated(p.SimulatedTimePs), p.Fabric.Price, p.Fabric.PowerWatts, inputs(p.Inputs)})
		}
		return answer{analysis, func(w io.Writer) error {
			draw(w, marks, columns(t), analysis.PriceList.Currency)
			return table.Write(w, "no point has completed", "POINT TIME PRICE WATTS INPUTS", rows)
		}}, nil
	})
}

// coordinate is where a price is drawn. A price is never computed with like this.
func coordinate(price string) float64 {
	exact, ok := new(big.Rat).SetString(price)
	if !ok {
		return 0
	}
	at, _ := exact.Float64()
	return at
}

// mark is a point of a drawing.
type mark struct {
	x, y float64
	sign byte
}

const drawingLines = 15

// draw draws marks by price, to the right, and simulated time, upwards. Where two marks are in
// one place the later is seen.
func draw(w io.Writer, marks []mark, width int, currency string) {
	if len(marks) == 0 {
		return
	}
	x0, x1, y0, y1 := marks[0].x, marks[0].x, marks[0].y, marks[0].y
	for _, m := range marks {
		x0, x1, y0, y1 = min(x0, m.x), max(x1, m.x), min(y0, m.y), max(y1, m.y)
	}
	top, bottom := simulated(int64(y1)), simulated(int64(y0))
	label := max(len(top), len(bottom))
	across := max(width-label-len(" |"), 20)
	lines := make([][]byte, drawingLines)
	for i := range lines {
		lines[i] = bytes.Repeat([]byte{' '}, across)
	}
	for _, m := range marks {
		lines[drawingLines-1-at(m.y, y0, y1, drawingLines)][at(m.x, x0, x1, across)] = m.sign
	}
	var b strings.Builder
	for i, l := range lines {
		text := map[int]string{0: top, drawingLines - 1: bottom}[i]
		fmt.Fprintf(&b, "%*s |%s\n", label, text, bytes.TrimRight(l, " "))
	}
	left, right := fmt.Sprintf("%.6g", x0), fmt.Sprintf("%.6g %s", x1, table.Printable(currency))
	fmt.Fprintf(&b, "%*s +%s\n", label, "", strings.Repeat("-", across))
	fmt.Fprintf(&b, "%*s  %s%*s\n", label, "", left, max(across-len(left), len(right)+1), right)
	fmt.Fprintf(&b, "%s\n\n", wrap("simulated time by the fabric's price; # no other point is both faster and cheaper", width))
	_, _ = io.WriteString(w, b.String())
}

// at returns the place of a value among the places from low to high.
func at(value, low, high float64, places int) int {
	if high <= low {
		return 0
	}
	return int((value - low) / (high - low) * float64(places-1))
}
