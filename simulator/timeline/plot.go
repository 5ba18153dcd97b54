package timeline

import (
	"cmp"
	"slices"
)

// The bounds of a plot.
const (
	plotBins        = 200
	plotRanks       = 64
	plotCollectives = 1000
)

// Plot is a timeline in bins of equal time.
type Plot struct {
	EndPs       int64            `json:"endTimePs"`
	Bins        int              `json:"bins"`              // in which the time up to the end is divided
	Omitted     int64            `json:"omittedActivities"` // computations and transfers that are not shown
	CompletePs  int64            `json:"completeUntilPs"`   // no activity before it is omitted, unless it ended later
	Ranks       []PlotRanks      `json:"ranks"`             // at most 64 rows
	Collectives []PlotCollective `json:"collectives"`       // the longest 1,000, by their start
	More        int              `json:"moreCollectives"`   // that are not shown
	Links       []PlotLinks      `json:"links"`             // of each tier and direction, mean and maximum
}

// PlotRanks is the mean of consecutive ranks, in whole percent of each bin. A rank may compute
// and send at the same time.
type PlotRanks struct {
	First     int32 `json:"firstRank"`
	Last      int32 `json:"lastRank"`
	Computing []int `json:"computingPercent"`
	Host      []int `json:"hostComputingPercent"`
	Sending   []int `json:"sendingPercent"`
	Waiting   []int `json:"waitingPercent"`
}

// PlotCollective is a collective.
type PlotCollective struct {
	ID        int64  `json:"collectiveId"`
	Group     string `json:"group"`
	Operation string `json:"operationType"`
	StartPs   int64  `json:"startTimePs"`
	EndPs     int64  `json:"endTimePs"`
}

// PlotLinks is a counter, in whole percent at the end of each bin.
type PlotLinks struct {
	Name    string `json:"name"`
	Percent []int  `json:"percent"`
}

// Plot returns the timeline in bins.
func (t *Timeline) Plot() Plot {
	p := Plot{EndPs: t.end, Bins: plotBins, Omitted: t.Omitted, CompletePs: t.end, Ranks: []PlotRanks{}, Collectives: []PlotCollective{}, Links: []PlotLinks{}}
	if t.Omitted > 0 {
		p.CompletePs = t.until
	}
	t.plotRanks(&p)
	t.plotCollectives(&p)
	for _, c := range t.counters {
		p.Links = append(p.Links, PlotLinks{Name: c.name, Percent: c.binned(t.end)})
	}
	return p
}

func (t *Timeline) plotRanks(p *Plot) {
	ranks := int32(0)
	for i := range t.spans {
		if s := &t.spans[i]; s.Kind != Running {
			ranks = max(ranks, s.Owner+1)
		}
	}
	each := (ranks + plotRanks - 1) / plotRanks
	rows := make([][Running][plotBins]int64, (int(ranks)+plotRanks)/max(int(each), 1)+1) // ps
	before, busy := Span{Owner: -1}, int64(0)
	t.each(func(s *Span) {
		if s.Kind == Running {
			return
		}
		if before.Owner != s.Owner || before.Kind != s.Kind {
			busy = 0
		}
		before = *s
		t.fill(&rows[s.Owner/each][s.Kind], max(s.Start, busy), s.End)
		busy = max(busy, s.End)
	})
	for first := int32(0); first < ranks; first += each {
		last := min(first+each, ranks) - 1
		row := &rows[first/each]
		share := func(k Kind) []int { return t.shares(&row[k], int64(last-first+1)) }
		p.Ranks = append(p.Ranks, PlotRanks{first, last, share(Computing), share(HostComputing), share(Sending), share(Waiting)})
	}
}

// edge returns when a bin begins, in ps.
func (t *Timeline) edge(bin int) int64 {
	return t.end/plotBins*int64(bin) + t.end%plotBins*int64(bin)/plotBins
}

// bin returns the bin of a time.
func (t *Timeline) bin(at int64) int {
	bin := min(int(at/max(t.end/plotBins, 1)), plotBins-1)
	for bin > 0 && t.edge(bin) > at {
		bin--
	}
	return bin
}

// fill adds the time between from and to to the bins.
func (t *Timeline) fill(bins *[plotBins]int64, from, to int64) {
	for bin := t.bin(from); bin < plotBins && from < to; bin++ {
		until := min(to, t.edge(bin+1))
		bins[bin] += max(until-from, 0)
		from = max(from, until)
	}
}

// shares returns the percentages of the bins of a number of ranks.
func (t *Timeline) shares(bins *[plotBins]int64, ranks int64) []int {
	list := make([]int, plotBins)
	for i, time := range bins {
		if width := t.edge(i+1) - t.edge(i); width > 0 {
			list[i] = int((time/ranks*100 + width/2) / width)
		}
	}
	return list
}

func (t *Timeline) plotCollectives(p *Plot) {
	var all []*Span
	for i := range t.spans {
		if s := &t.spans[i]; s.Kind == Running {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b *Span) int { return cmp.Compare(b.End-b.Start, a.End-a.Start) })
	p.More = max(len(all)-plotCollectives, 0)
	all = all[:len(all)-p.More]
	slices.SortStableFunc(all, func(a, b *Span) int { return cmp.Compare(a.Start, b.Start) })
	for _, s := range all {
		p.Collectives = append(p.Collectives, PlotCollective{s.Collective, t.groups.list[s.Owner], t.names.list[s.Name], s.Start, s.End})
	}
}

// binned returns the value at the end of each bin of a run that ends at a time.
func (c *counter) binned(end int64) []int {
	list, at := make([]int, plotBins), 0
	t := Timeline{end: end}
	for bin := range list {
		for at < len(c.points)-1 && c.points[at].at < t.edge(bin+1) {
			at++
		}
		list[bin] = int((c.points[at].value + 500_000) / 1_000_000)
	}
	return list
}
