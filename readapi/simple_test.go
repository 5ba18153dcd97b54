package readapi_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/internal/servicetest"
)

// TestPreviewSimple: the preview of every reference case has the number of tiers
// and the links of the reference (completions 4.2).
func TestPreviewSimple(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, servicetest.NewAccount())
	file, err := os.Open("../simulator/topology/testdata/clos_derivation.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	for _, row := range rows[1:] {
		get := func(name string) string { return row[column[name]] }
		number := func(name string) int {
			n, err := strconv.Atoi(get(name))
			if err != nil {
				t.Fatalf("column %s: %v", name, err)
			}
			return n
		}
		body := with(workload(number("ranks"), "allReduce"), "topologyConstraints",
			object{"switchRadix": get("switchRadix"), "subscriptionRatio": get("subscriptionRatio")})
		got := user.Post(simple+"/simulations/preview", body).Want(200).Object()["topology"].(object)
		links := got["links"].(object)
		links["tierCount"] = got["tierCount"]
		for name, value := range links {
			if fmt.Sprint(value) != get(name) {
				t.Errorf("%s ranks at %s of %s: %s is %v, want %s", get("ranks"), get("subscriptionRatio"), get("switchRadix"), name, value, get(name))
			}
		}
	}
}

func TestPreviewOfTheDocumentedExamples(t *testing.T) {
	t.Parallel()
	user := servicetest.Shared(t).User(t, servicetest.NewAccount())
	got := user.Post(simple+"/simulations/preview", workload(128, "allReduce")).Want(200).Object()
	want := object{"topology": object{
		"tierCount": 2.0, "totalHosts": 128.0, "ranksPerHost": 1.0, "ranksPerRack": 64.0,
		"tiers": []any{
			object{"name": "RSW", "switchCount": 2.0, "downlinksPerSwitch": 64.0, "uplinksPerSwitch": 64.0,
				"downlinkDataRateGbps": 400.0, "uplinkDataRateGbps": 400.0, "effectiveSubscriptionRatio": "1:1", "switchCapacityUtilization": 100.0},
			object{"name": "FSW", "switchCount": 1.0, "downlinksPerSwitch": 128.0, "uplinksPerSwitch": 0.0,
				"downlinkDataRateGbps": 400.0, "uplinkDataRateGbps": 0.0, "switchCapacityUtilization": 100.0},
		},
		"links": object{"hostToRsw": 128.0, "rswToFsw": 128.0, "fswToSsw": 0.0},
		"resolvedConstraints": object{"switchRadix": "128x400G", "subscriptionRatio": "1:1", "nicNetworkPortSpeed": 400.0,
			"effectiveNicSpeed": 400.0, "switchLinkSpeed": 400.0, "switchingCapacityGbps": 51200.0},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("128 ranks (-want +got):\n%s", diff)
	}
	if one := user.Post(simple+"/simulations/preview", workload(8, "allReduce")).Want(200).Object()["topology"].(object); one["tierCount"] != 1.0 {
		t.Errorf("8 ranks: got %v, want 1 tier", one)
	}
	three := with(workload(16384, "allReduce"), "topologyConstraints", object{})
	if got := user.Post(simple+"/simulations/preview", three).Want(200).Object()["topology"].(object); got["tierCount"] != 3.0 {
		t.Errorf("16384 ranks: got %v, want 3 tiers", got)
	}
	tooMany := with(workload(65536, "allReduce"), "topologyConstraints", object{"switchRadix": "64x800G"})
	user.Post(simple+"/simulations/preview", tooMany).Want(200)
	user.Post(simple+"/simulations/preview", with(workload(65537, "allReduce"), "topologyConstraints", object{})).Refused(400, "VALIDATION_ERROR")
}

func TestCompatibility(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	entries := p.User(t, servicetest.NewAccount()).Get(simple + "/compatibility").Want(200).Object()["entries"].([]any)
	if len(entries) != 6 {
		t.Fatalf("got %d entries, want 6", len(entries))
	}
	want := object{"operationType": "allReduce", "allowedAlgorithms": []any{"ring", "recursiveHalvingDoubling"},
		"defaultAlgorithm": "ring", "powerOfTwoRequired": []any{"recursiveHalvingDoubling"}}
	if diff := cmp.Diff(want, entries[0]); diff != "" {
		t.Errorf("first entry (-want +got):\n%s", diff)
	}
	p.Bearer(t, "").Get(simple+"/compatibility").Refused(401, "UNAUTHORIZED")
}
