package results

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
)

// criticalPath is the summary of the critical path: the chain of activities that made the run
// as long as it is. Percentages are of its time.
type criticalPath struct {
	Steps       int64            `json:"steps"`      // rows of the record
	Activities  int64            `json:"activities"` // computations and transfers; a row may have several
	Time        millionths       `json:"timeUs"`
	Parts       criticalParts    `json:"parts"`
	Longest     []longStep       `json:"longest"`     // the steps that took longest
	Ranks       []criticalRank   `json:"ranks"`       // that computed most on the path
	Links       []criticalLink   `json:"links"`       // that limited the path's transfers longest
	Collectives []criticalOfKind `json:"collectives"` // whose transfers took most of the path
	Sentence    string           `json:"sentence"`
}

type criticalParts struct {
	Computation millionths `json:"computationPercent"`
	Sending     millionths `json:"sendingPercent"`    // transfers, as long as they would drain beside those of their sender only
	Contention  millionths `json:"contentionPercent"` // how much longer they drained
	Latency     millionths `json:"latencyPercent"`    // from the last bit sent to the last acknowledgement
	pathTimes
}

// pathTimes are the parts of the time of a critical path, which they add up to.
type pathTimes struct {
	Computation int64 `json:"computationPs"`
	Sending     int64 `json:"sendingPs"`
	Contention  int64 `json:"contentionPs"`
	Latency     int64 `json:"latencyPs"`
}

// longStep is one step. Its members after TimeUs are those of its longest activity.
type longStep struct {
	Start      millionths `json:"startTimeUs"`
	Time       millionths `json:"timeUs"`
	Activities int64      `json:"activities"`
	Kind       string     `json:"kind"` // computation or transfer
	Rank       int64      `json:"rank"`
	To         *int64     `json:"toRank,omitempty"`       // of a transfer
	Collective *int64     `json:"collectiveId,omitempty"` // of a collective's transfer
	Operation  string     `json:"operationType,omitempty"`
	Bytes      int64      `json:"sizeBytes,omitempty"`
	Node       *uint64    `json:"nodeId,omitempty"` // of a computation, in the trace
	Limit      string     `json:"limitedBy,omitempty"`
}

type criticalRank struct {
	Rank    int64      `json:"rank"`
	Compute millionths `json:"computationUs"`
	Percent millionths `json:"percent"`
}

type criticalLink struct {
	Name       string     `json:"name"`
	Time       millionths `json:"timeUs"`
	Contention millionths `json:"contentionUs"`
	Percent    millionths `json:"percent"`
}

type criticalOfKind struct {
	Collective int64      `json:"collectiveId"` // -1 for plain sends
	Operation  string     `json:"operationType"`
	Time       millionths `json:"timeUs"`
	Percent    millionths `json:"percent"`
}

func (f *criticalFold) summary() *criticalPath {
	whole := f.spent.sum()
	share := func(part int64) millionths { return percent(big.NewInt(part), big.NewInt(whole)) }
	s := &criticalPath{
		Steps: f.rows, Activities: f.activities, Time: millionths(whole),
		Parts: criticalParts{
			share(f.spent.compute), share(f.spent.sending), share(f.spent.contention), share(f.spent.latency),
			pathTimes{f.spent.compute, f.spent.sending, f.spent.contention, f.spent.latency},
		},
		Ranks: []criticalRank{}, Links: []criticalLink{}, Collectives: []criticalOfKind{}, Longest: []longStep{},
	}
	for _, k := range f.longest {
		s.Longest = append(s.Longest, k.described())
	}
	for rank, compute := range f.ranks {
		s.Ranks = append(s.Ranks, criticalRank{rank, millionths(compute), share(compute)})
	}
	for name, t := range f.links {
		s.Links = append(s.Links, criticalLink{cmp.Or(name, "none"), millionths(t.sum()), millionths(t.contention), share(t.sum())})
	}
	for k, t := range f.collectives {
		s.Collectives = append(s.Collectives, criticalOfKind{k.id, k.operation, millionths(t.sum()), share(t.sum())})
	}
	s.Ranks = most(s.Ranks, func(a, b criticalRank) int {
		return cmp.Or(cmp.Compare(b.Compute, a.Compute), cmp.Compare(a.Rank, b.Rank))
	})
	s.Links = most(s.Links, func(a, b criticalLink) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Name, b.Name)) })
	s.Collectives = most(s.Collectives, func(a, b criticalOfKind) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Collective, b.Collective), cmp.Compare(a.Operation, b.Operation))
	})
	s.Sentence = s.read()
	return s
}

// most returns the first of the sorted list that a summary names.
func most[T any](list []T, order func(a, b T) int) []T {
	slices.SortFunc(list, order)
	return list[:min(len(list), maxCritical)]
}

func (s *criticalStep) described() longStep {
	l := longStep{
		Start: millionths(s.start), Time: millionths(s.spent.sum()), Activities: s.activities, Kind: s.kind, Rank: s.rank, Limit: s.limit,
	}
	if s.kind == computation {
		l.Node = &s.node
		return l
	}
	l.To, l.Operation, l.Bytes = &s.to, s.operation, s.bytes
	if s.collective >= 0 {
		l.Collective = &s.collective
	}
	return l
}

// read returns the path as one sentence.
func (s *criticalPath) read() string {
	if len(s.Longest) == 0 {
		return ""
	}
	text := fmt.Sprintf("The critical path has %d computations and transfers, which took %s us: %s %% for computation, %s %% for sending, %s %% for contention and %s %% for latency; longest took ",
		s.Activities, tenths(s.Time), tenths(s.Parts.Computation), tenths(s.Parts.Sending), tenths(s.Parts.Contention), tenths(s.Parts.Latency))
	first := &s.Longest[0]
	switch {
	case first.Kind == computation && first.Activities > 1:
		text += fmt.Sprintf("%d computations of rank %d around node %d", first.Activities, first.Rank, *first.Node)
	case first.Kind == computation:
		text += fmt.Sprintf("node %d, a computation of rank %d", *first.Node, first.Rank)
	case first.Activities > 1:
		text += fmt.Sprintf("%d transfers of %s around that from rank %d to rank %d", first.Activities, first.Operation, first.Rank, *first.To)
	default:
		text += fmt.Sprintf("the transfer of %s from rank %d to rank %d", first.Operation, first.Rank, *first.To)
	}
	text += fmt.Sprintf(", %s us", tenths(first.Time))
	if first.Limit != "" {
		text += ", limited by " + first.Limit
	}
	return text + "."
}
