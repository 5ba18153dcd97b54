package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const testReference = "../../../simulator/engine/testdata"

// compared compares all rows, once for all tests.
var compared = sync.OnceValues(func() ([]section, error) {
	return compare(context.Background(), testReference, true)
})

// TestBounds checks that every section is within its bound and compares enough rows.
func TestBounds(t *testing.T) {
	t.Parallel()
	sections, err := compared()
	if err != nil {
		t.Fatal(err)
	}
	if err := printTable(t.Output(), sections); err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{}
	for i := range sections {
		s := &sections[i]
		rows[s.Name] = len(s.Rows)
		if beyond := s.beyond(); beyond != "" {
			t.Errorf("%s: %s; want %s", s.Name, beyond, s.bound())
		}
	}
	for name, least := range map[string]int{
		"closed forms of the algorithms":                  10,
		"ASTRA-sim, congestion-unaware":                   144,
		"ASTRA-sim, congestion-aware, whole messages":     134,
		"ASTRA-sim, congestion-aware, 64 chunks and more": 20,
		"csg-htsim NDP, packets sprayed":                  54,
		"csg-htsim NDP, a path a flow":                    54,
		"csg-htsim RoCE, a path a flow":                   54,
		"csg-htsim NDP, own rows, sprayed, fitted":        700,
		"csg-htsim NDP, own rows, sprayed, held out":      268,
		"csg-htsim NDP, own rows, a path a flow":          40,
		"csg-htsim NDP, other parameters, sprayed":        28,
		"csg-htsim NDP, other parameters, a path a flow":  20,
		"csg-htsim RoCE, other parameters, a path a flow": 36,
		"csg-htsim NDP, small packets, sprayed, seen":     59,
		"csg-htsim NDP, held out of engine 1.11, sprayed": 36,
		"closed forms, with acknowledgements":             270,
	} {
		if rows[name] < least {
			t.Errorf("%s: %d rows compared, want %d", name, rows[name], least)
		}
	}
	document, err := os.ReadFile("../../../docs/engine.md")
	if err != nil {
		t.Fatal(err)
	}
	if now, err := between(document, tables(sections)); err != nil || !bytes.Equal(now, document) {
		t.Errorf("docs/engine.md is out of date, run go generate -C prove ./bench/accuracy (%v)", err)
	}
	bands, err := os.ReadFile("../../../simulator/accuracy/bands.json")
	if err != nil {
		t.Fatal(err)
	}
	if now, err := bandsJSON(sections); err != nil || !bytes.Equal(now, bands) {
		t.Errorf("simulator/accuracy/bands.json is out of date, run go generate -C prove ./bench/accuracy (%v)", err)
	}
}

// TestBeyond: beyond describes how a section exceeds its bound.
func TestBeyond(t *testing.T) {
	t.Parallel()
	same, one, five, spread := row{Least: 100, Most: 100, Theirs: 100}, row{Least: 101, Most: 101, Theirs: 100}, row{Least: 95, Most: 95, Theirs: 100}, row{Least: 50, Most: 90, Theirs: 100}
	for _, c := range []struct {
		when string
		s    section
		want string
	}{
		{"nothing", section{}, "nothing was compared"},
		{"exact", section{Rows: []row{same}, Exact: true}, ""},
		{"not exact", section{Rows: []row{same, one}, Exact: true}, "1 rows differ"},
		{"worst", section{Rows: []row{same, one, five}, Worst: 0.051}, ""},
		{"above the worst", section{Rows: []row{same, one, five}, Worst: 0.049}, "1 rows are above 4.9 %"},
		{"median", section{Rows: []row{same, one, five}, Median: 0.011, Worst: 0.1}, ""},
		{"above the median", section{Rows: []row{one, five}, Median: 0.02, Worst: 0.1}, "the median is above 2 %"},
		{"chance", section{Rows: []row{spread, {Least: 90, Most: 110, Theirs: 100}}, Near: 0.04, Worst: 0.1}, ""},
		{"no chance", section{Rows: []row{five}, Near: 0.04, Worst: 0.1}, "1 rows are outside their spreads"},
		{"longest", section{Rows: []row{spread}, Near: 0.2, Worst: 0.2, Longest: 1.5, longest: 1.5}, ""},
		{"above the longest", section{Rows: []row{spread}, Near: 0.2, Worst: 0.2, Longest: 1.5, longest: 3.26}, "a spread ends at 3.26 times that of the reference"},
		{"more than chance", section{Rows: []row{spread, spread}, Near: 0.04, Worst: 0.1}, "2 rows are outside their spreads"},
	} {
		if got := c.s.beyond(); got != c.want {
			t.Errorf("%s: %q, want %q", c.when, got, c.want)
		}
	}
}

// TestOtherRows: the command compares reference tables from another directory, and
// fails if a row is wrong.
func TestOtherRows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const astra = "backend,topology,npus,ranks,collective,algorithm,size_bytes,bw_GiBps,latency_ns,splits,active_chunks,finish_max_ns\n"
	write := func(unaware string) {
		for name, text := range map[string]string{
			"astrasim_1d.csv": astra + "unaware,Switch,16,16,all_reduce,ring,2097152,50.0,500.0,1,1," + unaware + "\n" +
				"aware,FullyConnected,4,4,reduce_scatter,direct,1048576,50.0,500.0,1,1,5384\n" +
				"aware,Ring,4,4,all_reduce,direct,1048576,50.0,500.0,1,1,31295\n",
			"astrasim_switch_chunk_convergence.csv": astra + "aware,Switch,8,8,all_reduce,ring,67108864,50.0,500.0,256,256,2187852\n",
			"htsim_leafspine.csv": "workload,ranks,size_bytes,oversub,transport,last_fct_us\n" +
				"ring_allreduce_n16_1MiB,16,1048576,1:1,ndp_spray,112.207\nring_allreduce_n16_1MiB,16,1048576,1:1,ndp_ecmp1,112.17\n" +
				"ring_allreduce_n16_1MiB,16,1048576,1:1,roce_ecmp1,112.251\nbroadcast_n16_1MiB,16,1048576,1:1,ndp_spray,1\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	// The time is 30 steps of floor(1000 + 131072/53.687) + 1 ns, plus 1 ns.
	write("103261")
	out := &strings.Builder{}
	if err := run(t.Context(), out, []string{"-reference", dir}); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, want := range []string{"not compared: workload broadcast", "not compared: a ring network, beyond neighbours"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output has no %q:\n%s", want, out)
		}
	}
	write("103262")
	if err := run(context.WithoutCancel(t.Context()), out, []string{"-reference", dir}); !errors.Is(err, errBeyond) {
		t.Errorf("a wrong row gives %v, want %v", err, errBeyond)
	}
}

// TestArguments: the command refuses arguments that are not options.
func TestArguments(t *testing.T) {
	t.Parallel()
	if err := run(t.Context(), new(bytes.Buffer), []string{"rows"}); err == nil || !strings.Contains(err.Error(), `argument "rows"`) {
		t.Errorf("an argument gives %v, want an error that names it", err)
	}
}
