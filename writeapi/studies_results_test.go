package writeapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/internal/servicetest"
)

const capacity = "components[rsw].typedParameters.SwitchingCapacity.value"

// timesOf returns the simulated times of rows, sorted.
func timesOf(rows []object) (times []float64) {
	for _, row := range rows {
		times = append(times, pick(row, "figures.simulatedTimePs").(float64))
	}
	slices.Sort(times)
	return times
}

// TestReplicates: each point runs with as many seeds. Its row has the median, the least and
// the most of their times, and the front takes the median.
func TestReplicates(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	body := object{
		"name": "seeds", "replicates": 4, "base": object{"simple": workload(256, phase("allToAll", "", 1<<24))},
		"axes": []object{{"field": "topologyConstraints.subscriptionRatio", "values": []any{"1:1", "4:1"}}},
	}
	forecast := user.Post(studies+"/preview", body).Want(200).Object()
	if forecast["points"] != 2.0 || forecast["runs"] != 8.0 {
		t.Errorf("the forecast is %v, want 2 points of 8 runs", forecast)
	}
	started := user.Post(studies, body).Want(201).Object()
	id := started["id"].(string)
	if started["points"] != 2.0 || started["replicates"] != 4.0 || pick(started, "progress.waiting") != 8.0 {
		t.Errorf("the study is %v, want 2 points of 4 replicates", started)
	}
	if done := awaitStudy(user, id, "completed"); pick(done, "progress.completed") != 8.0 {
		t.Errorf("the study ends with %v", done["progress"])
	}
	rows := rowsOf(user, id)
	if len(rows) != 2 {
		t.Fatalf("there are %d rows, want 2", len(rows))
	}
	for point, row := range rows {
		var times []float64
		for k, run := range pick(row, "replicates.runs").([]any) {
			s := user.Get(simulations + "/" + run.(object)["simulationId"].(string)).Want(200).Object()
			made := whole(user, configurations+"/"+s["configurationId"].(string))
			if s["name"] != fmt.Sprintf("seeds-%d-%d", point, k) || pick(made, seed) != float64(k+1) {
				t.Errorf("replicate %d of point %d is %s with seed %v", k, point, s["name"], pick(made, seed))
			}
			times = append(times, run.(object)["simulatedTimePs"].(float64))
			if times[k] == pick(row, "figures.simulatedTimePs") && row["simulationId"] == nil {
				t.Errorf("the row %v names no run", row)
			}
		}
		slices.Sort(times)
		want := []any{4.0, times[0], times[1], times[3], times[1]}
		got := []any{pick(row, "replicates.completed"), pick(row, "replicates.leastTimePs"), pick(row, "replicates.medianTimePs"), pick(row, "replicates.mostTimePs"), pick(row, "figures.simulatedTimePs")}
		if diff := cmp.Diff(want, got); diff != "" || row["point"] != float64(point) || row["status"] != "completed" {
			t.Errorf("point %d is %v (-want +got):\n%s", point, row, diff)
		}
	}
	analysis := user.Get(studies + "/" + id + "/analysis").Want(200).Object()
	for i, front := range analysis["front"].([]any) {
		same(t, "the front", rows[i]["replicates"], front.(object)["replicates"])
		same(t, "the time", pick(rows[i], "replicates.medianTimePs"), front.(object)["simulatedTimePs"])
	}
	if groups := pick(analysis["axes"].([]any)[0], "time.groups"); analysis["points"] != 2.0 || analysis["completed"] != 2.0 || groups != 1.0 {
		t.Errorf("the analysis is %v", analysis)
	}
	page := user.Get(studies + "/" + id + "/results?limit=1").Want(200).Object()
	next := user.Get(studies + "/" + id + "/results?limit=1&cursor=" + pick(page, "pagination.nextCursor").(string)).Want(200).Object()
	same(t, "the second page", []any{map[string]any(rows[1])}, next["results"])
	for _, s := range user.Get(studies).Want(200).Object()["studies"].([]any) {
		same(t, "the points in the list", 2.0, s.(object)["points"])
	}
	// The first replicate is the run that a study without replicates makes.
	alone := startStudy(user, with(body, object{"replicates": 1}))
	if done := awaitStudy(user, alone, "completed"); pick(done, "progress.shared") != 2.0 || done["replicates"] != nil {
		t.Errorf("a study without replicates ends with %v, want both results shared", done)
	}
}

// TestSeedsAreReplicates: points that differ in an axis of seeds only are one on the front,
// with the median of their times.
func TestSeedsAreReplicates(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	own := newWorkspace(t, p.Service(t, account), "own")
	user := p.User(t, account, own)
	body := workload(256, phase("allToAll", "", 1<<24))
	body["topologyConstraints"] = object{"subscriptionRatio": "2:1"}
	base := newValidConfiguration(t, user, own, body)
	study := ofConfiguration(base, seed, 1, 2, 3, 4, 5)
	user.Post(studies, with(study, object{"replicates": 2})).Refused(400, "VALIDATION_ERROR")
	id := startStudy(user, study)
	awaitStudy(user, id, "completed")
	times := timesOf(rowsOf(user, id))
	analysis := user.Get(studies + "/" + id + "/analysis").Want(200).Object()
	front := analysis["front"].([]any)
	if len(front) != 1 || analysis["completed"] != 5.0 {
		t.Fatalf("the front is %v, want one of the five points", front)
	}
	got := []any{front[0].(object)["simulatedTimePs"], pick(front[0], "replicates.completed"), pick(front[0], "replicates.leastTimePs"), pick(front[0], "replicates.mostTimePs")}
	if diff := cmp.Diff([]any{times[2], 5.0, times[0], times[4]}, got); diff != "" {
		t.Errorf("the front is %v of the times %v (-want +got):\n%s", front, times, diff)
	}
	if axis := analysis["axes"].([]any)[0].(object); axis["kind"] != "seed" || pick(axis, "time.groups") != 0.0 {
		t.Errorf("the axis of the seeds is %v, want no value that is best", axis)
	}
}

// TestAStudyShowsWarnings: the rows and the front have the warnings of the validation of
// their points, and an axis without effect says why.
func TestAStudyShowsWarnings(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	own := newWorkspace(t, p.Service(t, account), "own")
	user := p.User(t, account, own)
	base := newValidConfiguration(t, user, own, workload(16, phase("allReduce", "", 1<<20)))
	enough := pick(find(whole(user, configurations+"/"+base)["components"], "rsw"), "typedParameters.SwitchingCapacity.value")
	body := with(ofConfiguration(base, ""), object{"axes": []object{
		{"field": capacity, "values": []any{400, enough}},
		{"field": "applications[0].typedParameters.ChakraConfiguration.AllReduceAlgorithm.value", "values": []any{"ring", "halving-doubling"}},
		{"field": "globalParameters.SimulationParameters.BeaconReportInterval.value", "values": []any{0.001, 0.002}},
	}})
	id := startStudy(user, body)
	awaitStudy(user, id, "completed")
	rows := rowsOf(user, id)
	for point, row := range rows {
		warnings, _ := row["warnings"].([]any)
		if (point < 4) != (len(warnings) == 1) {
			t.Errorf("point %d has the warnings %v", point, warnings)
		}
		for _, w := range warnings {
			if pick(w, "code") != "SWITCH_OVERSUBSCRIBED" || pick(w, "severity") != "warning" || !strings.Contains(pick(w, "message").(string), "400 Gbps") {
				t.Errorf("point %d has the warning %v", point, w)
			}
		}
	}
	lines := strings.Split(string(user.Get(studies+"/"+id+"/results?format=csv").Want(200).Body), "\n")
	if !strings.HasSuffix(lines[0], ",warnings") || !strings.HasSuffix(lines[1], ",SWITCH_OVERSUBSCRIBED") || !strings.HasSuffix(lines[8], ",") {
		t.Errorf("the table is\n%s", strings.Join(lines, "\n"))
	}
	analysis := user.Get(studies + "/" + id + "/analysis").Want(200).Object()
	for _, point := range analysis["front"].([]any) {
		same(t, "the warnings of the front", rows[int(point.(object)["point"].(float64))]["warnings"], point.(object)["warnings"])
	}
	axes := analysis["axes"].([]any)
	for i, want := range []struct{ kind, reason string }{
		{"design", ""}, {"workload", "the traceset names the algorithm"}, {"design", "neither the times nor the prices of the 8 completed points"},
	} {
		axis := axes[i].(object)
		reason, _ := axis["noEffect"].(string)
		if axis["kind"] != want.kind || (want.reason == "") != (reason == "") || !strings.HasPrefix(reason, want.reason) {
			t.Errorf("axis %d is %v, want %v", i, axis, want)
		}
	}
	// All points have too little capacity, so it hides what another axis would change.
	only := with(body, object{"axes": []object{
		{"field": capacity, "values": []any{400}},
		{"field": "globalParameters.SimulationParameters.BeaconReportInterval.value", "values": []any{0.001, 0.002}},
	}})
	again := startStudy(user, only)
	awaitStudy(user, again, "completed")
	axes = user.Get(studies + "/" + again + "/analysis").Want(200).Object()["axes"].([]any)
	if reason, _ := axes[1].(object)["noEffect"].(string); !strings.Contains(reason, "see the warnings of the points") || axes[0].(object)["noEffect"] != nil {
		t.Errorf("the axes are %v, want that the warnings explain the second", axes)
	}
}

// ownPrices is a price list, with one class for each kind.
func ownPrices() object {
	class := func(gbps int, price, watts string) []object {
		return []object{{"gbps": gbps, "price": price, "watts": watts}}
	}
	return object{
		"version": "ours-1", "currency": "EUR", "assumption": "our contract", "switches": class(51200, "100", "10"), "nics": class(400, "10", "1"),
		"copper": class(400, "1", "0"), "optical": class(400, "2.5", "0"), "servers": class(400, "1000", "50"),
	}
}

// TestAStudyTakesPrices: points cost what the study's own list says, with the servers if
// they count.
func TestAStudyTakesPrices(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	body := object{
		"name": "ours", "prices": ownPrices(), "base": object{"simple": workload(256, phase("allToAll", "", 1<<20))},
		"axes": []object{{"field": "topologyConstraints.subscriptionRatio", "values": []any{"1:1", "4:1"}}},
	}
	for _, c := range []struct {
		servers bool
		want    []any // at 1:1 six switches and 256 optical links, at 4:1 four and 75
	}{
		{false, []any{"4056", "316", nil, "3403.5", "296", nil}},
		{true, []any{"260056", "13116", 256.0, "259403.5", "13096", 256.0}},
	} {
		started := user.Post(studies, with(body, object{"servers": c.servers})).Want(201).Object()
		id := started["id"].(string)
		if diff := cmp.Diff(map[string]any{"version": "ours-1", "currency": "EUR"}, map[string]any{"version": pick(started, "prices.version"), "currency": pick(started, "prices.currency")}); diff != "" {
			t.Errorf("the study has %v (-want +got):\n%s", started["prices"], diff)
		}
		awaitStudy(user, id, "completed")
		var got []any
		for _, row := range rowsOf(user, id) {
			fabric := row["fabric"].(object)
			got = append(got, fabric["price"], fabric["powerWatts"], fabric["servers"])
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("with servers %t (-want +got):\n%s", c.servers, diff)
		}
		list := user.Get(studies + "/" + id + "/analysis").Want(200).Object()["priceList"]
		same(t, "the list in the analysis", started["prices"], list)
		user.Post(studies+"/preview", with(body, object{"prices": list})).Want(200) // a list that was read can be sent
	}
}

func TestPricesAndReplicatesAreRefused(t *testing.T) {
	t.Parallel()
	user := servicetest.Shared(t).User(t, funded(t, servicetest.Shared(t)))
	class := func(gbps any, price, watts any) object { return object{"gbps": gbps, "price": price, "watts": watts} }
	without := ownPrices()
	delete(without, "servers")
	incomplete := ownPrices()
	delete(incomplete, "nics")
	many := make([]any, 65)
	for i := range many {
		many[i] = class(i+1, "1", "1")
	}
	for name, c := range map[string]struct {
		changes object
		message string
	}{
		"no replicate":      {object{"replicates": 0}, "replicates must be between 1 and 32, got 0"},
		"33 replicates":     {object{"replicates": 33}, "replicates must be between 1 and 32, got 33"},
		"half a replicate":  {object{"replicates": 1.5}, "replicates must be an integer, got 1.5"},
		"too many points":   {with(sizes(1000), object{"replicates": 11}), "the points with their replicates at most 10000; got 1000 points of 11"},
		"no list":           {object{"prices": object{}}, "prices.currency is required"},
		"a kind is missing": {object{"prices": incomplete}, "prices.nics is required"},
		"an unknown kind":   {object{"prices": with(ownPrices(), object{"racks": many[:1]})}, "prices.racks is unknown"},
		"no classes":        {object{"prices": with(ownPrices(), object{"nics": []any{}})}, "prices.nics must have between 1 and 64 items, got 0"},
		"too many classes":  {object{"prices": with(ownPrices(), object{"nics": many})}, "prices.nics must have between 1 and 64 items, got 65"},
		"a price in words":  {object{"prices": with(ownPrices(), object{"nics": []any{class(1, "dear", "1")}})}, "prices.nics[0].price must be a decimal"},
		"a negative price":  {object{"prices": with(ownPrices(), object{"nics": []any{class(1, "-1", "1")}})}, "prices.nics[0].price must be a decimal"},
		"a number":          {object{"prices": with(ownPrices(), object{"nics": []any{class(1, "1", 1)}})}, "prices.nics[0].watts must be a string, got 1"},
		"no rate":           {object{"prices": with(ownPrices(), object{"nics": []any{class(0, "1", "1")}})}, "prices.nics[0].gbps must be between 1 and 10000000, got 0"},
		"equal rates":       {object{"prices": with(ownPrices(), object{"copper": []any{class(5, "1", "1"), class(5, "2", "1")}})}, "prices.copper[1].gbps must be at least 6, above the class before it; got 5"},
		"descending rates":  {object{"prices": with(ownPrices(), object{"servers": []any{class(5, "1", "1"), class(4, "2", "1")}})}, "prices.servers[1].gbps must be at least 6"},
		"a currency":        {object{"prices": with(ownPrices(), object{"currency": "euro"})}, "prices.currency must "},
		"servers for free":  {object{"prices": without, "servers": true}, "prices.servers is required, because servers is true"},
		"servers, in words": {object{"servers": "yes"}, "servers must be true or false, got 'yes'"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{studies, studies + "/preview"} {
				if message := user.Post(path, with(algorithms(), c.changes)).Refused(400, "VALIDATION_ERROR"); !strings.Contains(message, c.message) {
					t.Errorf("got the message %q, want one with %q", message, c.message)
				}
			}
		})
	}
	user.Post(studies+"/preview", with(algorithms(), object{"prices": without, "replicates": 32})).Want(200)
}

// TestAPointThatIsCutOff: a point whose duration ends before its workload does is not
// compared with those that finish theirs.
func TestAPointThatIsCutOff(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	own := newWorkspace(t, p.Service(t, account), "own")
	user := p.User(t, account, own)
	base := newValidConfiguration(t, user, own, workload(8, phase("allReduce", "", 1<<24)))
	id := startStudy(user, ofConfiguration(base, "duration", "10us", "1s"))
	awaitStudy(user, id, "completed")
	rows := rowsOf(user, id)
	if pick(rows[0], "figures.unfinishedRanks") != 8.0 || pick(rows[1], "figures.unfinishedRanks") != nil {
		t.Errorf("the rows are %v, want the ranks that were cut off", rows)
	}
	front := user.Get(studies + "/" + id + "/analysis").Want(200).Object()["front"].([]any)
	if len(front) != 1 || front[0].(object)["point"] != 1.0 {
		t.Errorf("the front is %v, want the point that finishes", front)
	}
}
