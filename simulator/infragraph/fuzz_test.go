package infragraph_test

import (
	"os"
	"reflect"
	"testing"

	"netsim/simulator/infragraph"
)

// FuzzRead: any bytes are read or refused, twice alike. What was read can be wired, and if it
// can be written it is read back as the same network.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"closfabric.yaml", "dgx_cx5.yaml"} {
		content, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Add([]byte(small))
	f.Add([]byte(`{"infrastructure":{"name":"a","devices":[],"instances":[],"edges":[]},"annotations":{}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		if len(content) > 1<<14 {
			return
		}
		d, notes, err := infragraph.Read(content)
		again, notesAgain, errAgain := infragraph.Read(content)
		if (err == nil) != (errAgain == nil) || !reflect.DeepEqual(d, again) || !reflect.DeepEqual(notes, notesAgain) {
			t.Fatalf("the second reading gives %v and %q, want %v and %q", errAgain, notesAgain, err, notes)
		}
		if err != nil {
			return
		}
		want, err := d.Fabric()
		if err != nil {
			t.Fatalf("the fabric cannot be wired: %v", err)
		}
		if len(want.Nodes) > 10_000 {
			return
		}
		text, _, err := infragraph.Write(d)
		if err != nil {
			return // more than validation allows
		}
		back, _, err := infragraph.Read(text)
		if err != nil {
			t.Fatalf("what was written is refused: %v", err)
		}
		got, err := back.Fabric()
		if err != nil || len(got.Nodes) != len(want.Nodes) || len(got.Links) != len(want.Links) {
			t.Errorf("read back: %v, or another fabric", err)
		}
	})
}
