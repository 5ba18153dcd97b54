package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// comparedCritical has the critical paths of two runs. The lists have what at least one of the
// summaries names, the largest difference first.
type comparedCritical struct {
	Activities  pair                   `json:"activities"`
	Computation pair                   `json:"computationPs"`
	Sending     pair                   `json:"sendingPs"`
	Contention  pair                   `json:"contentionPs"`
	Latency     pair                   `json:"latencyPs"`
	Ranks       []comparedRank         `json:"ranks"`
	Links       []comparedCriticalLink `json:"links"`
	Operations  []comparedOperation    `json:"operations"`
}

type comparedRank struct {
	Rank    int64 `json:"rank"`
	Compute pair  `json:"computationPs"`
}

type comparedCriticalLink struct {
	Name       string `json:"name"`
	Time       pair   `json:"timePs"`
	Contention pair   `json:"contentionPs"`
}

// comparedOperation has the transfers of all collectives of an operation; "" for plain sends.
type comparedOperation struct {
	OperationType string `json:"operationType"`
	Time          pair   `json:"timePs"`
}

func compareCritical(this, other *criticalPath) *comparedCritical {
	c := &comparedCritical{
		Activities: both(this.Activities, other.Activities),
		Ranks:      []comparedRank{}, Links: []comparedCriticalLink{}, Operations: []comparedOperation{},
	}
	for run, p := range [...]*criticalPath{this, other} {
		for i, time := range p.times() {
			set([...]*pair{&c.Computation, &c.Sending, &c.Contention, &c.Latency}[i], run, millionths(time))
		}
		for _, k := range p.Ranks {
			row := of(&c.Ranks, func(x *comparedRank) bool { return x.Rank == k.Rank }, comparedRank{Rank: k.Rank})
			set(&row.Compute, run, k.Compute)
		}
		for _, l := range p.Links {
			row := of(&c.Links, func(x *comparedCriticalLink) bool { return x.Name == l.Name }, comparedCriticalLink{Name: l.Name})
			set(&row.Time, run, l.Time)
			set(&row.Contention, run, l.Contention)
		}
		for _, k := range p.Collectives {
			row := of(&c.Operations, func(x *comparedOperation) bool { return x.OperationType == k.Operation }, comparedOperation{OperationType: k.Operation})
			set(&row.Time, run, millionths(row.Time.of(run))+k.Time)
		}
	}
	slices.SortStableFunc(c.Ranks, func(a, b comparedRank) int { return cmp.Compare(b.Compute.apart(), a.Compute.apart()) })
	slices.SortStableFunc(c.Links, func(a, b comparedCriticalLink) int { return cmp.Compare(b.Time.apart(), a.Time.apart()) })
	slices.SortStableFunc(c.Operations, func(a, b comparedOperation) int { return cmp.Compare(b.Time.apart(), a.Time.apart()) })
	return c
}

// times returns the parts of the path in ps: computation, sending, contention and latency. They
// add up to its time. A summary of an older engine has only their percentages; what these leave
// by rounding belongs to the largest.
func (p *criticalPath) times() [4]int64 {
	t := p.Parts.pathTimes
	times := [...]int64{t.Computation, t.Sending, t.Contention, t.Latency}
	if t == (pathTimes{}) {
		for i, share := range [...]millionths{p.Parts.Computation, p.Parts.Sending, p.Parts.Contention, p.Parts.Latency} {
			times[i] = ratio(int64(p.Time), int64(share), 100_000_000)
		}
	}
	largest, rest := &times[0], int64(p.Time)
	for i := range times {
		if rest -= times[i]; times[i] > *largest {
			largest = &times[i]
		}
	}
	*largest += rest
	return times
}

// apart returns how far the figures of the runs are apart.
func (p *pair) apart() int64 {
	if d := p.of(0) - p.of(1); d >= 0 {
		return d
	}
	return p.of(1) - p.of(0)
}

// maxNamed is how many changes of the inputs a sentence names.
const maxNamed = 3

// Sentence names the main cause of the difference. this and other name the runs; changes
// are the differences of their inputs as texts.
func (c *Comparison) Sentence(this, other string, changes []string) string {
	names, slow := [...]string{this, other}, 0
	if c.Figures.Time.of(1) > c.Figures.Time.of(0) {
		slow = 1
	}
	more, less := c.Figures.Time.of(slow), c.Figures.Time.of(1-slow)
	text := fmt.Sprintf("Both runs took %s us", tenths(millionths(more)))
	if more > less {
		text = fmt.Sprintf("%s took %s us, %s times as long as %s with %s us", names[slow], tenths(millionths(more)),
			hundredths(millionths(ratio(more, 1_000_000, less))), names[1-slow], tenths(millionths(less)))
		if c.Critical != nil {
			text += c.cause(slow, more-less)
		}
	}
	if len(changes) == 0 {
		return text + "; their inputs are equal."
	}
	text += "; their inputs differ in " + strings.Join(changes[:min(len(changes), maxNamed)], ", ")
	if over := len(changes) - maxNamed; over > 0 {
		text += fmt.Sprintf(" and %d more", over)
	}
	return text + "."
}

// cause names the part of the critical path that grew most, and where. The parts add up to
// the times of the runs, so at least one of them is longer in the slower run.
func (c *Comparison) cause(slow int, difference int64) string {
	x := c.Critical
	growth := func(p *pair) int64 { return p.of(slow) - p.of(1-slow) }
	name, part := "computation", &x.Computation
	for other, p := range map[string]*pair{"contention": &x.Contention, "sending": &x.Sending, "latency": &x.Latency} {
		if g := growth(p) - growth(part); g > 0 || g == 0 && other < name {
			name, part = other, p
		}
	}
	if growth(part) <= 0 {
		return ""
	}
	where := ""
	switch name {
	case "computation":
		if r := firstOf(x.Ranks, func(r *comparedRank) int64 { return growth(&r.Compute) }); r != nil {
			where = fmt.Sprintf(", most of it by rank %d", r.Rank) + c.straggles(slow, r.Rank)
		}
	case "contention":
		if l := firstOf(x.Links, func(l *comparedCriticalLink) int64 { return growth(&l.Contention) }); l != nil {
			where = ", most of it at " + l.Name
		}
	case "sending":
		if o := firstOf(x.Operations, func(o *comparedOperation) int64 { return growth(&o.Time) }); o != nil {
			where = ", most of it in " + cmp.Or(o.OperationType, "plain sends")
		}
	case "latency":
		where = fmt.Sprintf(", with %d computations and transfers on the path instead of %d", x.Activities.of(slow), x.Activities.of(1-slow))
	}
	text := fmt.Sprintf(", mainly by %s on the critical path: %s us more%s", name, tenths(millionths(growth(part))), where)
	if shorter := growth(part) - difference; shorter >= 50_000 { // else it is 0.0 us
		text += fmt.Sprintf(", while its other parts are %s us shorter", tenths(millionths(shorter)))
	}
	return text
}

// straggles says how much longer a rank computes than others, "" if it is not a straggler.
func (c *Comparison) straggles(run int, rank int64) string {
	if s := c.reports[run].Stragglers; s != nil {
		for _, k := range s.Ranks {
			if int64(k.Rank) == rank {
				return fmt.Sprintf(", which computes %s times as long as the median of the ranks", tenths(k.Ratio))
			}
		}
	}
	return ""
}

// firstOf returns the row that grew most, nil if none did.
func firstOf[T any](rows []T, growth func(*T) int64) (most *T) {
	for i := range rows {
		if g := growth(&rows[i]); g > 0 && (most == nil || g > growth(most)) {
			most = &rows[i]
		}
	}
	return most
}

// hundredths formats a figure with two decimals.
func hundredths(m millionths) string {
	m = (m + 5_000) / 10_000
	return fmt.Sprintf("%d.%02d", m/100, m%100)
}
