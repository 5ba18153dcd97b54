package results

import (
	"encoding/json"
	"fmt"
	"io"
)

// Report is the content of summary.json.
type Report struct {
	Summary
	Explained
}

// MaxReport bounds a summary.json, in bytes. Those of the built-in engine have some 100 KB.
const MaxReport = 4 << 20

// ReadReport reads a summary.json. It refuses one of a remote engine that says neither how
// long the run took nor what limited it.
func ReadReport(r io.Reader) (*Report, error) {
	var report Report
	if err := json.NewDecoder(io.LimitReader(r, MaxReport)).Decode(&report); err != nil {
		return nil, fmt.Errorf("read summary.json: %w", err)
	}
	if report.SimulatedTimePs <= 0 || report.Links == nil {
		return nil, fmt.Errorf("summary.json of the engine %.64q has no simulatedTimePs or no linkUtilization", report.EngineVersion)
	}
	return &report, nil
}

// UnmarshalJSON reads a number of at most 6 decimals.
func (m *millionths) UnmarshalJSON(text []byte) error {
	v, err := parseFixed(text, 6)
	*m = millionths(v)
	return err
}

// pair is a figure of two runs. A member is nil if the run has no such figure, or does not
// name it among its largest ones.
type pair struct {
	This  *int64 `json:"this,omitempty"`
	Other *int64 `json:"other,omitempty"`
}

func both(this, other int64) pair { return pair{&this, &other} }

// side returns the member of a run: 0 for this one, 1 for the other one.
func (p *pair) side(run int) **int64 { return [...]**int64{&p.This, &p.Other}[run] }

// of returns the value of a run, 0 if it has none.
func (p *pair) of(run int) int64 {
	if v := *p.side(run); v != nil {
		return *v
	}
	return 0
}

// shares is a pair of parts, between 0 and 1.
type shares struct {
	This  *float64 `json:"this,omitempty"`
	Other *float64 `json:"other,omitempty"`
}

func (s *shares) set(run int, percent millionths) {
	part := float64(percent.part()) / 1e6
	*[...]**float64{&s.This, &s.Other}[run] = &part
}

// Comparison says side by side what two runs have. Times are in ps, rates in bit/s.
type Comparison struct {
	Figures     comparedFigures      `json:"figures"`
	Collectives []comparedCollective `json:"collectives"`
	Tiers       []comparedTier       `json:"tiers"`
	Limits      []comparedLimit      `json:"limits"`
	Critical    *comparedCritical    `json:"criticalPath,omitempty"` // nil if a run has none
	Stragglers  []comparedStraggler  `json:"stragglers"`

	reports [2]*Report
}

type comparedFigures struct {
	Time       pair `json:"simulatedTimePs"`
	Goodput    pair `json:"goodputBps"`
	Transfer   pair `json:"meanTransferTimePs"`
	Bytes      pair `json:"payloadBytes"`
	Transfers  pair `json:"transfers"`
	Operations pair `json:"collectives"`
	Ranks      pair `json:"ranks"`
	Compute    pair `json:"meanComputeTimePs"` // of the ranks
	Exposed    pair `json:"meanExposedTimePs"`
}

// comparedCollective has the collectives of one kind. A kind of one run has no side of the
// other run only if nothing there does the same operation.
type comparedCollective struct {
	This  *comparedKind `json:"this,omitempty"`
	Other *comparedKind `json:"other,omitempty"`
}

type comparedKind struct {
	OperationType string `json:"operationType"`
	Algorithm     string `json:"algorithm"`
	SizeBytes     int64  `json:"sizeBytes"`
	GroupSize     int    `json:"groupSize"`
	Count         int    `json:"count"`
	MeanRunTime   int64  `json:"meanRunTimePs"`
	IdealTime     int64  `json:"idealTimePs"`
	Bus           int64  `json:"busBandwidthBps"`
}

type comparedTier struct {
	Tier       string `json:"tier"`
	Direction  string `json:"direction"`
	Interfaces pair   `json:"interfaces"`
	Mean       shares `json:"meanUtilization"`
	Max        shares `json:"maxUtilization"`
}

type comparedLimit struct {
	Resources string `json:"resources"` // kind, tier and direction, such as "links rsw ul"
	Share     shares `json:"flowTimeShare"`
}

type comparedStraggler struct {
	Rank    int64 `json:"rank"`
	Compute pair  `json:"computeTimePs"`
}

// Compare compares the reports of two runs.
func Compare(this, other *Report) *Comparison {
	c := &Comparison{
		Figures: comparedFigures{
			Time: both(this.SimulatedTimePs, other.SimulatedTimePs), Goodput: both(this.ThroughputBps, other.ThroughputBps),
			Transfer: both(this.AvgLatencyPs, other.AvgLatencyPs), Bytes: both(this.PayloadBytes, other.PayloadBytes),
			Transfers: both(this.Transfers, other.Transfers), Operations: both(int64(this.Collectives), int64(other.Collectives)),
			Ranks: both(int64(this.Ranks), int64(other.Ranks)),
		},
		Collectives: compareKinds(this.Kinds, other.Kinds),
		Tiers:       []comparedTier{}, Limits: []comparedLimit{}, Stragglers: []comparedStraggler{},
		reports: [2]*Report{this, other},
	}
	for run, r := range c.reports {
		if t := r.RankTime; t != nil {
			set(&c.Figures.Compute, run, t.MeanCompute)
			set(&c.Figures.Exposed, run, t.MeanExposed)
		}
		for i := range r.Links {
			c.tier(run, &r.Links[i])
		}
		for i := range r.LimitedBy {
			l := &r.LimitedBy[i]
			name := words(l.Kind, l.Tier, l.Direction)
			of(&c.Limits, func(x *comparedLimit) bool { return x.Resources == name }, comparedLimit{Resources: name}).Share.set(run, l.Percent)
		}
		if r.Stragglers == nil {
			continue
		}
		for _, s := range r.Stragglers.Ranks {
			rank := int64(s.Rank)
			row := of(&c.Stragglers, func(x *comparedStraggler) bool { return x.Rank == rank }, comparedStraggler{Rank: rank})
			set(&row.Compute, run, s.Compute)
		}
	}
	if this.CriticalPath != nil && other.CriticalPath != nil {
		c.Critical = compareCritical(this.CriticalPath, other.CriticalPath)
	}
	return c
}

func set(p *pair, run int, v millionths) {
	n := int64(v)
	*p.side(run) = &n
}

// of returns the row that fits, or a new one at the end.
func of[T any](list *[]T, fits func(*T) bool, fresh T) *T {
	for i := range *list {
		if fits(&(*list)[i]) {
			return &(*list)[i]
		}
	}
	*list = append(*list, fresh)
	return &(*list)[len(*list)-1]
}

func (c *Comparison) tier(run int, l *linkUse) {
	row := of(&c.Tiers, func(x *comparedTier) bool { return x.Tier == l.Tier && x.Direction == l.Direction },
		comparedTier{Tier: l.Tier, Direction: l.Direction})
	set(&row.Interfaces, run, millionths(l.Interfaces))
	row.Mean.set(run, l.Mean)
	row.Max.set(run, l.Max)
}

// compareKinds pairs the kinds of collectives: equal ones first, then those that differ in the
// algorithm, then also in the size, and then also in the group.
func compareKinds(this, other []kindSummary) []comparedCollective {
	rows := make([]comparedCollective, len(this))
	for i := range this {
		rows[i].This = this[i].compared()
	}
	taken := make([]bool, len(other))
	for loose := range 4 {
		for i := range this {
			if rows[i].Other != nil {
				continue
			}
			for j := range other {
				if !taken[j] && other[j].like(&this[i], loose) {
					taken[j], rows[i].Other = true, other[j].compared()
					break
				}
			}
		}
	}
	for j := range other {
		if !taken[j] {
			rows = append(rows, comparedCollective{Other: other[j].compared()})
		}
	}
	return rows
}

// like reports whether two kinds are equal but for the last members: none, the algorithm,
// the size, the group.
func (k *kindSummary) like(o *kindSummary, loose int) bool {
	return k.OperationType == o.OperationType && (loose >= 1 || k.Algorithm == o.Algorithm) &&
		(loose >= 2 || k.SizeBytes == o.SizeBytes) && (loose >= 3 || k.GroupSize == o.GroupSize)
}

func (k *kindSummary) compared() *comparedKind {
	return &comparedKind{
		OperationType: k.OperationType, Algorithm: k.Algorithm, SizeBytes: k.SizeBytes, GroupSize: k.GroupSize, Count: k.Count,
		MeanRunTime: int64(k.MeanRunTime), IdealTime: int64(k.IdealTime), Bus: int64(k.Bus) * 8000, // from 10^-6 GB/s
	}
}
