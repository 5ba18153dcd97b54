package writeapi_test

import (
	"strings"
	"testing"
	"time"

	"netsim/internal/servicetest"
)

// TestDominatedRunsAreStopped: with stopDominated a run is terminated once it has taken
// longer than a completed point of the same workload whose fabric costs no more. Its row
// says by which point, and why. A run of another workload goes on.
func TestDominatedRunsAreStopped(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t) // its two runs are all that it runs at a time
	user := p.User(t, funded(t, p))
	long := func(phases int) []object {
		list := make([]object, phases)
		for i := range list {
			list[i] = phase("allToAll", "interleaved", 1<<36)
		}
		return list
	}
	few, many := long(30), long(1000) // seconds and minutes of a processor
	class := func(gbps int, price string) object { return object{"gbps": gbps, "price": price, "watts": "0"} }
	free := []object{class(1, "0")}
	body := object{
		"name": "dominated", "method": "list", "stopDominated": true, "base": object{"simple": workload(256, phase("allReduce", "", 1024))},
		"axes": []object{
			{"field": "workload.phases", "values": []any{few, few, many}},
			{"field": "topologyConstraints.switchRadix", "values": []string{"64x800G", "256x200G", "256x200G"}},
		},
		"prices": object{"currency": "EUR", "switches": free, "copper": free, "optical": free, "nics": []object{class(200, "7"), class(800, "5")}},
	}
	first := workload(256, few...)
	first["topologyConstraints"] = object{"switchRadix": "64x800G"}
	awaitStatus(user, submit(t, user, first), "completed") // which the first point shares
	started := user.Post(studies, body).Want(201).Object()
	id := started["id"].(string)
	if started["stopDominated"] != true {
		t.Errorf("the study is %v, want stopDominated", started)
	}
	user.Eventually(studies+"/"+id, func(r servicetest.Reply) bool { return pick(r.Object(), "progress.terminated") == 1.0 })
	rows := rowsOf(user, id)
	if rows[0]["status"] != "completed" || rows[0]["stoppedBy"] != nil || rows[1]["status"] != "terminated" || rows[1]["stoppedBy"] != 0.0 || rows[1]["figures"] != nil {
		t.Errorf("the rows are %v, want the second stopped by the first", rows)
	}
	reason := rows[1]["reason"].(string)
	if !strings.HasPrefix(reason, "point 0 took ") || !strings.Contains(reason, "for a price of 1280 EUR") || !strings.HasSuffix(reason, "at least, for 1792 EUR") {
		t.Errorf("the reason is %q", reason)
	}
	table := string(user.Get(studies + "/" + id + "/results?format=csv&status=terminated").Want(200).Body)
	if !strings.Contains(table, ",0,"+reason+",") && !strings.Contains(table, ",0,\""+reason+"\",") {
		t.Errorf("the table has no column of the reason:\n%s", table)
	}
	other := simulations + "/" + rows[2]["simulationId"].(string)
	least := time.Duration(pick(rows[0], "figures.simulatedTimePs").(float64) / 1000)
	user.Eventually(other, func(r servicetest.Reply) bool { // it takes longer than the first, too
		progress, _ := r.Object()["progress"].(object)
		text, _ := progress["simulatedTime"].(string)
		now, _ := time.ParseDuration(text)
		return now > least
	})
	if s := user.Get(other).Want(200).Object(); s["status"] != "running" {
		t.Errorf("the run of another workload is %v", s)
	}
	user.Post(studies+"/"+id+"/terminate", nil).Want(200)
	awaitStudy(user, id, "terminated")
}
