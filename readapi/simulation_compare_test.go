package readapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/commands"
	"netsim/events"
	"netsim/internal/servicetest"
	"netsim/internal/testworld"
)

// comparison compares two simulations.
func comparison(c *servicetest.Client, this, other string) object {
	return c.Get(simulations + "/" + this + "/compare/" + other).Want(200).Object()
}

// allReduce returns a submission of eight ranks.
func allReduce(algorithm string, bytes int) object {
	return object{"workload": object{"ranks": 8, "phases": []object{{"operationType": "allReduce", "algorithm": algorithm, "dataSize": bytes}}}}
}

// TestCompareSubmissions: a comparison of two simple submissions has their differing fields, and
// the figures of their summaries.
func TestCompareSubmissions(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	ring, again := submit(t, user, allReduce("ring", 65536)), submit(t, user, allReduce("ring", 65536))
	halving := submit(t, user, allReduce("recursiveHalvingDoubling", 131072))
	for _, id := range []string{ring, again, halving} {
		completed(user, id)
	}

	c := comparison(user, ring, halving)
	inputs := c["inputs"].(object)
	want := []any{
		object{
			"kind": "changed", "subject": "submission", "path": "groups[0].phases[0].algorithm", "before": "ring", "after": "recursiveHalvingDoubling",
			"text": "groups[0].phases[0].algorithm ring → recursiveHalvingDoubling",
		},
		object{
			"kind": "changed", "subject": "submission", "path": "groups[0].phases[0].dataSize", "before": 65536.0, "after": 131072.0,
			"text": "groups[0].phases[0].dataSize 65536 → 131072",
		},
	}
	if diff := cmp.Diff(want, inputs["changes"]); diff != "" || inputs["equal"] != false || inputs["omitted"] != 0.0 {
		t.Errorf("got the inputs %v (-want +got):\n%s", inputs, diff)
	}
	fabric := object{"price": "23840", "powerWatts": "517.6", "switches": 1.0, "nics": 8.0, "links": 8.0}
	if diff := cmp.Diff(object{"priceList": "2026-11-25", "currency": "USD", "this": fabric, "other": fabric}, c["fabrics"]); diff != "" {
		t.Errorf("the fabrics (-want +got):\n%s", diff)
	}
	figures := c["results"].(object)["figures"].(object)
	for run, id := range map[string]string{"this": ring, "other": halving} {
		link := user.Get(simulations + "/" + id + "/results/download-url?fileName=summary.json").Want(200).Object()["downloadUrl"].(string)
		var summary struct{ SimulatedTimePs, ThroughputBps, Transfers float64 }
		if err := json.Unmarshal(download(t, link), &summary); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]float64{"simulatedTimePs": summary.SimulatedTimePs, "goodputBps": summary.ThroughputBps, "transfers": summary.Transfers} {
			if got := figures[name].(object)[run]; got != want {
				t.Errorf("%s of %s is %v, want %v", name, run, got, want)
			}
		}
	}
	sentence := c["sentence"].(string)
	if !strings.HasPrefix(sentence, ring+" took ") || !strings.Contains(sentence, "mainly by latency on the critical path") {
		t.Errorf("got the sentence %q, want the latency of the ring", sentence)
	}

	same := comparison(user, ring, again)
	if in := same["inputs"].(object); in["equal"] != true || len(in["changes"].([]any)) != 0 || !strings.HasSuffix(same["sentence"].(string), "; their inputs are equal.") {
		t.Errorf("equal submissions have the inputs %v: %s", in, same["sentence"])
	}
}

// TestCompareConfigurations: a comparison of runs of two versions of a configuration has the
// differences of the documents and of the requests.
func TestCompareConfigurations(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	configuration := configurations + "/" + completed(user, submit(t, user, allReduce("ring", 65536)))["configurationId"].(string)
	start := func(duration string) string {
		user.Post(configuration+"/validate", nil).Want(200)
		id := user.Post(simulations, object{
			"configurationId": strings.TrimPrefix(configuration, configurations+"/"), "name": "compared", "duration": duration,
		}).Want(201).Object()["id"].(string)
		completed(user, id)
		return id
	}
	first := start("1s")
	user.Patch(configuration+"/parameters", object{"SimulationParameters": object{"Mtu": object{"value": 1.5, "type": "bytes", "unit": "KB"}}}).Want(200)
	second := start("2s")

	c := comparison(user, first, second)
	texts := map[string]bool{}
	for _, change := range c["inputs"].(object)["changes"].([]any) {
		texts[change.(object)["subject"].(string)] = true
	}
	if diff := cmp.Diff(map[string]bool{"globalParameters": true, "run": true}, texts); diff != "" {
		t.Errorf("the inputs are %v (-want +got):\n%s", c["inputs"], diff)
	}
	if s := c["sentence"].(string); !strings.Contains(s, "Mtu") || !strings.Contains(s, "duration 1s → 2s") {
		t.Errorf("got the sentence %q, want the MTU and the duration", s)
	}
}

func TestComparisonsAreRefused(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	user := p.User(t, account)
	mine, without := submit(t, user, allReduce("ring", 1024)), submit(t, user, allReduce("ring", 2048))
	completed(user, mine)
	completed(user, without)
	theirs := p.User(t, funded(t, p))
	foreign := submit(t, theirs, allReduce("ring", 1024))
	completed(theirs, foreign)
	started := user.Post(simulations, object{
		"configurationId": completed(user, mine)["configurationId"], "name": "stays", "duration": "1s",
	}).Want(201).Object()["id"].(string)
	user.Eventually(simulations+"/"+started, func(r servicetest.Reply) bool {
		return r.Object()["status"] == "completed" || r.Object()["status"] == "invalid"
	})
	user.Delete(simulations + "/" + started).Want(200)
	workspace, unfinished := newWorkspace(t, p.Service(t, account), "compared"), events.NewID(events.SimulationPrefix)
	testworld.In(t, p.Beside(t), workspace, unfinished, commands.RequestSimulation{Requested: events.SimulationRequested{
		Origin: commands.OriginStart, AccountID: account, WorkspaceID: workspace, Name: "invalid", DurationNs: 1, Duration: "1ns",
		ConfigurationID: events.NewID(events.ConfigurationPrefix), ConfigurationVersion: 1,
	}})

	path := func(this, other string) string { return simulations + "/" + this + "/compare/" + other }
	for name, c := range map[string]struct {
		other  string
		status int
		code   string
	}{
		"of another account": {foreign, 404, "NOT_FOUND"},
		"missing":            {events.NewID(events.SimulationPrefix), 404, "NOT_FOUND"},
		"malformed":          {"sim_x", 400, "VALIDATION_ERROR"},
		"deleted":            {started, 404, "NOT_FOUND"},
		"not completed":      {unfinished, 409, "CONFLICT"},
	} {
		user.Get(path(mine, c.other)).Refused(c.status, c.code)
		user.Get(path(c.other, mine)).Refused(c.status, c.code)
		if t.Failed() {
			t.Fatalf("%s", name)
		}
	}
	publish(t, p.Beside(t), without, []stored{{"other.csv", "csv", []byte("a\n")}})
	if message := user.Get(path(mine, without)).Refused(404, "NOT_FOUND"); !strings.Contains(message, "has no summary.json") {
		t.Errorf("got the message %q", message)
	}
	limited := p.User(t, account, newWorkspace(t, p.Service(t, account), "elsewhere"))
	limited.Get(path(mine, unfinished)).Refused(403, "FORBIDDEN")
}
