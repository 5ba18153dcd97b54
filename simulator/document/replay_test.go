package document_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"netsim/simulator/catalogue"
	reader "netsim/simulator/chakra" // renamed because this package's tests have a function chakra
	"netsim/simulator/document"
	"netsim/simulator/engine"
	"netsim/simulator/mapping"
	"netsim/simulator/replay"
)

// runTraces runs traces as the service does: one text of JSON nodes per rank, and
// the ranks placed by a mapping file if placement is not empty. It returns the
// simulated time in ps.
func runTraces(t *testing.T, d *document.Document, placement string, ranks ...string) (int64, error) {
	t.Helper()
	fabric, err := d.Fabric()
	if err != nil {
		t.Fatal(err)
	}
	options, err := d.Options(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	settings, err := d.Chakra().Replay()
	if err != nil {
		t.Fatal(err)
	}
	in := engine.Input{Fabric: fabric, Options: options}
	if placement == "" {
		in.Hosts, err = d.Place(d.Chakra(), fabric, len(ranks))
	} else {
		var file *mapping.File
		if file, err = mapping.Parse(strings.NewReader(placement)); err == nil {
			in.Hosts, in.ScaleUp, err = document.Mapped(fabric, file, settings.Packet)
		}
	}
	if err != nil {
		return 0, err
	}
	scales, err := d.ComputeScales(fabric, in.Hosts)
	if err != nil {
		t.Fatal(err)
	}
	b := replay.New(len(ranks), replay.Options{
		Algorithms: settings.Algorithms, Serialize: settings.Serialize, Callers: settings.Callers,
		Abort: settings.Abort, Sizes: settings.Sizes, Times: scales,
	})
	for rank, nodes := range ranks {
		r, err := reader.NewReader(strings.NewReader(`{"version":"0.0.4"}`+nodes), reader.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Add(rank, r); err != nil {
			return 0, err
		}
	}
	p, err := b.Schedule()
	if err != nil {
		return 0, err
	}
	in.Replay = &engine.Replay{Schedule: p, Synchronize: settings.Synchronize, Exclusive: settings.Exclusive}
	r, err := engine.Run(t.Context(), in, engine.Observer{})
	if err != nil {
		return 0, err
	}
	return r.Time, nil
}

// mustRunTraces is runTraces, but an error fails the test.
func mustRunTraces(t *testing.T, d *document.Document, placement string, ranks ...string) int64 {
	t.Helper()
	ps, err := runTraces(t, d, placement, ranks...)
	if err != nil {
		t.Fatal(err)
	}
	return ps
}

func computation(id, micros int, dataDeps, ctrlDeps string) string {
	return fmt.Sprintf(`{"id":"%d","type":"COMP_NODE","durationMicros":"%d","dataDeps":[%s],"ctrlDeps":[%s]}`, id, micros, dataDeps, ctrlDeps)
}

// collectiveNode returns a collective of all ranks; kind is its number in Chakra, 5 for a broadcast.
func collectiveNode(id, kind, bytes int, dataDeps string) string {
	return fmt.Sprintf(`{"id":"%d","type":"COMM_COLL_NODE","dataDeps":[%s],"attr":[{"name":"comm_type","int64Val":"%d"},{"name":"comm_size","int64Val":"%d"}]}`, id, dataDeps, kind, bytes)
}

// traces returns the tests of the parameters that only traces use.
func traces() map[string]func(*testing.T) {
	const us = 1_000_000
	rack := network{pods: 1, racks: 1, hosts: 4, fsw: 1}
	doc := func(t *testing.T, changes ...change) *document.Document {
		return rack.document(t, append(changes, numbered("rsw", 1))...)
	}
	set := func(name string, value any) change { return change{"app", chakra(name), value, ""} }
	const in = chakraModel + " ChakraConfiguration."
	const group = "0,0,5,0\n1,1,5,0\n@\n5,100,250,5\n" // a mapping file with two ranks in one group
	const latency = 260_000                            // ps: one switch hop and two cables of that group
	return map[string]func(*testing.T){
		// Two broadcasts at once share the root's NIC, but their latencies overlap.
		in + "ProcessGroupSerialization": func(t *testing.T) {
			two := collectiveNode(1, 5, 100_000, "") + collectiveNode(2, 5, 100_000, "")
			one := mustRunTraces(t, doc(t), "", collectiveNode(1, 5, 100_000, ""), collectiveNode(1, 5, 100_000, ""))
			serial := mustRunTraces(t, doc(t), "", two, two)
			concurrent := mustRunTraces(t, doc(t, set("ProcessGroupSerialization", false)), "", two, two)
			if serial != 2*one || concurrent >= serial || concurrent <= one {
				t.Errorf("one takes %d ps, two serialized %d, two concurrent %d", one, serial, concurrent)
			}
		},
		in + "CommCollectiveSynchronization": func(t *testing.T) {
			early, late := collectiveNode(2, 5, 1000, ""), computation(1, 50, "", "")+collectiveNode(2, 5, 1000, "1")
			alone := mustRunTraces(t, doc(t), "", early, early)
			together := mustRunTraces(t, doc(t), "", early, late)
			apart := mustRunTraces(t, doc(t, set("CommCollectiveSynchronization", false)), "", early, late)
			if together != 50*us+alone || apart != 50*us {
				t.Errorf("alone %d ps; after a computation of 50 us %d synchronized, %d not synchronized", alone, together, apart)
			}
		},
		// Two collectives overlap unless a rank executes only one communication at a time.
		in + "OneCommunicationPerRank": func(t *testing.T) {
			both := collectiveNode(1, 5, 100_000, "") + collectiveNode(2, 5, 100_000, "")
			concurrent := mustRunTraces(t, doc(t, set("ProcessGroupSerialization", false)), "", both, both)
			one := mustRunTraces(t, doc(t), "", collectiveNode(1, 5, 100_000, ""), collectiveNode(1, 5, 100_000, ""))
			exclusive := mustRunTraces(t, doc(t, set("ProcessGroupSerialization", false), set("OneCommunicationPerRank", true)), "", both, both)
			if exclusive != 2*one || concurrent >= exclusive {
				t.Errorf("one takes %d ps, two exclusive %d, two concurrent %d", one, exclusive, concurrent)
			}
		},
		in + "TraceFamily": func(t *testing.T) {
			called := computation(1, 5, "", "") + `{"id":"2","type":"COMP_NODE","durationMicros":"7","ctrlDeps":["1"],"attr":[{"name":"is_cpu_op","int64Val":"1"}]}`
			for family, want := range map[string]int64{"synthesized": 12 * us, "compiled": 12 * us, "collected": 7 * us} {
				if got := mustRunTraces(t, doc(t, set("TraceFamily", family)), "", called, ""); got != want {
					t.Errorf("%s takes %d ps, want %d", family, got, want)
				}
			}
		},
		in + "AbortOnChakraWarning": func(t *testing.T) {
			dangling := computation(1, 5, "77", "")
			if _, err := runTraces(t, doc(t), "", dangling, ""); err != nil {
				t.Error(err)
			}
			want := "rank 0, node 1: 1 dependencies name nodes that are not in the file; the first names 77; AbortOnChakraWarning is on"
			if _, err := runTraces(t, doc(t, set("AbortOnChakraWarning", true)), "", dangling, ""); fmt.Sprint(err) != want {
				t.Errorf("got error %v, want %s", err, want)
			}
		},
		// At 100 Gb/s a byte takes 80 ps.
		in + "ScaleUpMaxPayloadSize": func(t *testing.T) {
			send := collectiveNode(1, 5, 10_000, "")
			for payload, packets := range map[int]int64{4096: 3, 1000: 10} {
				got := mustRunTraces(t, doc(t, change{"app", chakra("ScaleUpMaxPayloadSize"), payload, "B"}), group, send, send)
				if want := (10_000+packets*24)*80 + latency; got != want {
					t.Errorf("with a payload of %d B: %d ps, want %d", payload, got, want)
				}
			}
		},
		in + "ScaleUpHeaderSize": func(t *testing.T) {
			send := collectiveNode(1, 5, 10_000, "")
			got := mustRunTraces(t, doc(t, change{"app", chakra("ScaleUpHeaderSize"), 100, "B"}), group, send, send)
			if want := int64(10_000+3*100)*80 + latency; got != want {
				t.Errorf("with a header of 100 B: %d ps, want %d", got, want)
			}
		},
		"gpu-v1 ComputeScale": func(t *testing.T) {
			d := doc(t)
			gpu, _ := catalogue.Find("gpu-v1")
			c := gpu.Component("gpu", gpu.Latest())
			d.Components = append(d.Components, c)
			for i := range d.Components {
				if s := &d.Components[i]; s.Name == "server" {
					s.Components = append(s.Components, document.Ref{Type: document.TypeGPU, Name: "gpu", Count: 8})
				}
			}
			for scale, want := range map[float64]int64{1: 8 * us, 0.25: 2 * us} {
				c.TypedParameters["ComputeScale"].Leaf.Value = scale
				if got := mustRunTraces(t, d, "", computation(1, 8, "", ""), ""); got != want {
					t.Errorf("scaled by %v: %d ps, want %d", scale, got, want)
				}
			}
		},
	}
}

// TestMapped: ranks run on the servers that the mapping file names.
func TestMapped(t *testing.T) {
	t.Parallel()
	d := network{pods: 1, racks: 1, hosts: 4, fsw: 1}.document(t, numbered("rsw", 1))
	fabric, err := d.Fabric()
	if err != nil {
		t.Fatal(err)
	}
	file, err := mapping.Parse(strings.NewReader("1,0\n0,3,9,7\n@\n8,1,0,0\n9,1e10,1e16,2\n"))
	if err != nil {
		t.Fatal(err)
	}
	hosts, up, err := document.Mapped(fabric, file, engine.Packet{MSS: 1})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(hosts) != "[3 0]" || fmt.Sprint(up.Seats) != "[{1 7} {-1 0}]" || up.Domains[1].ID != 9 || up.Domains[0].Rate != 1e9 {
		t.Errorf("hosts %v, scale-up %+v; want hosts [3 0], and only rank 0 in a group, the second", hosts, *up)
	}
	// No run is as long as 10^16 ns.
	_, err = runTraces(t, d, "0,0,5,0\n1,1,5,0\n@\n5,100,1e16,5\n", collectiveNode(1, 5, 1, ""), collectiveNode(1, 5, 1, ""))
	if want := "scale-up group 5: a switch hop of 2305843009213693951 ps is longer than any run"; fmt.Sprint(err) != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	if _, err = runTraces(t, d, "0,0\n1,4\n", "", ""); fmt.Sprint(err) != "rank 1 is on server 4, and there are 4 servers" {
		t.Error(err)
	}
}
