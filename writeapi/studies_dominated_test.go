package writeapi_test

import (
	"strconv"
	"testing"

	"netsim/internal/servicetest"
)

// TestDominatedRunsAreStopped: with stopDominated a run is terminated once it has taken
// longer than a completed point whose fabric costs no more. One on a cheaper fabric goes on.
func TestDominatedRunsAreStopped(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t) // its two long runs are all that it runs at a time
	user := p.User(t, funded(t, p))
	longest := make([]object, 1000) // two minutes of a processor
	for i := range longest {
		longest[i] = phase("allToAll", "interleaved", 1<<36)
	}
	// The first point shares the result of a completed run, so it needs none of the two turns.
	fast := []object{phase("allReduce", "recursiveHalvingDoubling", 1024)}
	first := workload(256, fast...)
	first["topologyConstraints"] = object{"subscriptionRatio": "2:1"}
	awaitStatus(user, submit(t, user, first), "completed")
	body := object{
		"name": "dominated", "method": "list", "stopDominated": true, "base": object{"simple": workload(256, phase("allReduce", "", 1024))},
		"axes": []object{
			{"field": "workload.phases", "values": []any{fast, longest, longest}},
			{"field": "topologyConstraints.subscriptionRatio", "values": []string{"2:1", "1:1", "4:1"}},
		},
	}
	started := user.Post(studies, body).Want(201).Object()
	id := started["id"].(string)
	if started["stopDominated"] != true {
		t.Errorf("the study is %v, want stopDominated", started)
	}
	user.Eventually(studies+"/"+id, func(r servicetest.Reply) bool { return pick(r.Object(), "progress.terminated") == 1.0 })
	rows := rowsOf(user, id)
	if rows[0]["status"] != "completed" || rows[1]["status"] != "terminated" {
		t.Errorf("the rows are %v", rows)
	}
	price := func(row object) float64 {
		v, err := strconv.ParseFloat(pick(row, "fabric.price").(string), 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if !(price(rows[2]) < price(rows[0]) && price(rows[0]) < price(rows[1])) {
		t.Errorf("the fabrics cost %v, %v and %v, want one cheaper and one dearer than the first", price(rows[0]), price(rows[1]), price(rows[2]))
	}
	cheap := simulations + "/" + rows[2]["simulationId"].(string)
	user.Eventually(cheap, func(r servicetest.Reply) bool { return r.Object()["progress"] != nil }) // later than the first point's time
	if s := user.Get(cheap).Want(200).Object(); s["status"] != "running" {
		t.Errorf("the run on the cheapest fabric is %v", s)
	}
	user.Post(studies+"/"+id+"/terminate", nil).Want(200)
	awaitStudy(user, id, "terminated")
}
