package timeline_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"

	"netsim/simulator/timeline"
)

// small returns a timeline of two ranks: rank 0 computes for 2 us and then sends for 3 us,
// twice at once; rank 1 computes on its host from 4 us to 5 us.
func small() *timeline.Timeline {
	t := &timeline.Timeline{}
	work, send := t.Name([]byte("computation")), t.Name([]byte("send"))
	t.Add(timeline.Span{Kind: timeline.Computing, Name: work, To: -1, Collective: -1, End: 2_000_000})
	t.Add(timeline.Span{Kind: timeline.Sending, Name: send, To: 1, Collective: 7, Bytes: 1000, Start: 2_000_000, End: 5_000_000})
	t.Add(timeline.Span{Kind: timeline.Sending, Name: send, To: 1, Collective: -1, Bytes: 99, Start: 2_000_000, End: 4_000_000})
	t.Add(timeline.Span{Kind: timeline.HostComputing, Owner: 1, Name: work, To: -1, Collective: -1, Start: 4_000_000, End: 5_000_000})
	t.Add(timeline.Span{Kind: timeline.Running, Owner: t.Group([]byte("world")), Name: t.Name([]byte("allReduce")), To: -1, Collective: 7, Bytes: 1000, Start: 2_000_000, End: 5_000_000})
	t.Count("nic ul mean", 2_000_000, 0)
	t.Count("nic ul mean", 5_000_000, 62_500_000)
	return t
}

// TestPerfetto: the packets of a trace describe its tracks, and its slices have their names,
// times and annotations.
func TestPerfetto(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := small().WritePerfetto(&b); err != nil {
		t.Fatal(err)
	}
	got := decode(t, b.Bytes())
	want := []string{
		"group world / collective: allReduce 2000-5000 collective=7 bytes=1000",
		"links / nic ul mean: 0=0", "links / nic ul mean: 2000=62.5", "links / nic ul mean: 5000=0",
		"rank 0 / computing: computation 0-2000",
		"rank 0 / sending: send 2000-4000 to rank=1 bytes=99",
		"rank 0 / sending: send 2000-5000 to rank=1 collective=7 bytes=1000",
		"rank 1 / host computing: computation 4000-5000",
		"rank 1 / waiting: waiting 0-4000",
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the trace (-want +got):\n%s", diff)
	}
}

// TestPerfettoForCI writes a trace to the file of NETSIM_PERFETTO, which .ci/perfetto/run reads
// with Perfetto's own schema.
func TestPerfettoForCI(t *testing.T) {
	t.Parallel()
	var out io.Writer = io.Discard
	if name := os.Getenv("NETSIM_PERFETTO"); name != "" {
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		out = f
	}
	if err := small().WritePerfetto(out); err != nil {
		t.Fatal(err)
	}
}

// TestAnyTimeline: for any spans, no two slices of one track overlap, and the trace has every
// span once. Bins of a plot are at most 100 %, and those of kinds that exclude each other add
// up to at most 100 % and rounding.
func TestAnyTimeline(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var spans []timeline.Span
		for range rapid.IntRange(0, 40).Draw(rt, "spans") {
			s := timeline.Span{
				Kind: timeline.Kind(rapid.IntRange(0, 2).Draw(rt, "kind")), Owner: rapid.Int32Range(0, 90).Draw(rt, "rank"),
				Start: rapid.Int64Range(0, 90).Draw(rt, "start") * 1_000_000, Collective: -1,
			}
			s.End = s.Start + rapid.Int64Range(0, 20).Draw(rt, "length")*1_000_000
			spans = append(spans, s)
		}
		fill := func() *timeline.Timeline {
			tl := &timeline.Timeline{}
			tl.Name([]byte("work"))
			for _, s := range spans {
				tl.Add(s)
			}
			return tl
		}
		var b bytes.Buffer
		if err := fill().WritePerfetto(&b); err != nil {
			rt.Fatal(err)
		}
		kinds := map[string]int{}
		for _, line := range decode(rt, b.Bytes()) {
			var rank int
			var kind, rest string
			if _, err := fmt.Sscanf(line, "rank %d / %s", &rank, &kind); err != nil {
				rt.Fatalf("%s%s: %v", line, rest, err)
			}
			if kind != "waiting:" {
				kinds["busy"]++
			}
		}
		if kinds["busy"] != len(spans) {
			rt.Fatalf("the trace has %d spans, want %d", kinds["busy"], len(spans))
		}
		p := fill().Plot()
		for _, r := range p.Ranks {
			for i := range p.Bins {
				for _, part := range [][]int{r.Computing, r.Host, r.Sending, r.Waiting} {
					if part[i] < 0 || part[i] > 100 || part[i]+r.Waiting[i] > 101 && &part[i] != &r.Waiting[i] {
						rt.Fatalf("bin %d of ranks %d to %d is %d %% beside %d %% of waiting", i, r.First, r.Last, part[i], r.Waiting[i])
					}
				}
			}
		}
		if len(p.Ranks) > 64 {
			rt.Fatalf("%d rows, want at most 64", len(p.Ranks))
		}
	})
}

// TestPlot: the bins of a plot have the shares of the spans.
func TestPlot(t *testing.T) {
	t.Parallel()
	p := small().Plot()
	if p.EndPs != 5_000_000 || p.Bins != 200 || len(p.Ranks) != 2 || p.CompletePs != p.EndPs || p.Omitted+int64(p.More) > 0 {
		t.Fatalf("got %+v", p)
	}
	for bin := range p.Bins {
		want := [5]int{}
		want[0], want[1] = 100, 0
		if bin >= 80 {
			want[0], want[1] = 0, 100
		}
		want[2], want[3] = 100, 0
		if bin >= 160 {
			want[2], want[3] = 0, 100
		}
		if bin >= 80 {
			want[4] = 63
		}
		got := [5]int{p.Ranks[0].Computing[bin], p.Ranks[0].Sending[bin], p.Ranks[1].Waiting[bin], p.Ranks[1].Host[bin], p.Links[0].Percent[bin]}
		if got != want {
			t.Fatalf("bin %d is %v, want %v", bin, got, want)
		}
	}
	want := []timeline.PlotCollective{{ID: 7, Group: "world", Operation: "allReduce", StartPs: 2_000_000, EndPs: 5_000_000}}
	if diff := cmp.Diff(want, p.Collectives); diff != "" {
		t.Errorf("collectives (-want +got):\n%s", diff)
	}
}

// TestTooManySpans: a timeline keeps the first MaxSpans and counts the others.
func TestTooManySpans(t *testing.T) {
	t.Parallel()
	p := many(timeline.MaxSpans + 5).Plot()
	if p.Omitted != 5 || p.CompletePs >= p.EndPs+1 || p.CompletePs <= 0 {
		t.Errorf("%d activities are omitted and it is complete up to %d of %d ps, want 5", p.Omitted, p.CompletePs, p.EndPs)
	}
}

// many returns a timeline of transfers of 256 ranks, each with two in flight.
func many(n int) *timeline.Timeline {
	t := &timeline.Timeline{}
	name := t.Name([]byte("allReduce"))
	for i := range n {
		t.Add(timeline.Span{
			Kind: timeline.Sending, Owner: int32(i % 256), Name: name, To: int32((i + 1) % 256), Collective: int64(i / 4096), Bytes: 1 << 20,
			Start: int64(i/256) * 1_000_000, End: int64(i/256)*1_000_000 + 1_900_000,
		})
	}
	return t
}

func BenchmarkPerfetto(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		t := many(timeline.MaxSpans)
		b.StartTimer()
		if err := t.WritePerfetto(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*timeline.MaxSpans/b.Elapsed().Seconds(), "spans/s")
}

// message is a decoded message of protocol buffers: the values of each field, varints and
// 64-bit numbers as uint64, others as bytes.
type message map[protowire.Number][]any

func parse(t rapid.TB, b []byte) message {
	m := message{}
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		var v any
		switch kind {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(b)
		default:
			v, n = protowire.ConsumeBytes(b)
		}
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		m[field] = append(m[field], v)
		b = b[n:]
	}
	return m
}

func (m message) number(field protowire.Number) uint64 {
	if len(m[field]) == 0 {
		return 0
	}
	return m[field][0].(uint64)
}

func (m message) text(field protowire.Number) string {
	if len(m[field]) == 0 {
		return ""
	}
	return string(m[field][0].([]byte))
}

// decode returns a line for each slice and each value of a counter of a trace, in ns. It fails
// if slices of a track overlap.
func decode(t rapid.TB, trace []byte) (lines []string) {
	names, annotations := map[uint64]string{}, map[uint64]string{}
	tracks, open, ended := map[uint64]string{}, map[uint64]string{}, map[uint64]uint64{}
	for _, raw := range parse(t, trace)[1] {
		p := parse(t, raw.([]byte))
		for _, d := range p[60] {
			track := parse(t, d.([]byte))
			name := track.text(2)
			if parent := track.number(5); parent != 0 {
				name = tracks[parent] + " / " + name
			}
			tracks[track.number(1)] = name
		}
		for _, i := range p[12] {
			interned := parse(t, i.([]byte))
			for field, into := range map[protowire.Number]map[uint64]string{2: names, 3: annotations} {
				for _, e := range interned[field] {
					entry := parse(t, e.([]byte))
					into[entry.number(1)] = entry.text(2)
				}
			}
		}
		for _, e := range p[11] {
			event, at := parse(t, e.([]byte)), p.number(8)
			track := event.number(11)
			switch event.number(9) {
			case 1:
				if open[track] != "" || at < ended[track] {
					t.Fatalf("slices of %s overlap", tracks[track])
				}
				open[track] = fmt.Sprintf("%s: %s %d-%%d", tracks[track], names[event.number(10)], at)
				for _, a := range event[4] {
					note := parse(t, a.([]byte))
					open[track] += fmt.Sprintf(" %s=%d", annotations[note.number(1)], note.number(4))
				}
			case 2:
				lines = append(lines, fmt.Sprintf(open[track], at))
				open[track], ended[track] = "", at
			case 4:
				lines = append(lines, fmt.Sprintf("%s: %d=%v", tracks[track], at, math.Float64frombits(event.number(44))))
			}
		}
	}
	return lines
}
