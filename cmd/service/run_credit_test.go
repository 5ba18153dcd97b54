package service_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"netsim/internal/servicetest"
)

// TestARunEndsWithItsCredit: a prepaid run without end fails when its cost passes the credit
// held for it and none is free. Its results so far are published. The account owes at most what
// docs/quotas.md says.
func TestARunEndsWithItsCredit(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t)
	account := servicetest.NewAccount()
	p.Grant(t, account, "0.004") // 1.44 s at 10 an hour
	user, service := p.User(t, account), p.Service(t, account)
	submission := endlessSubmission()
	submission["workload"].(object)["ranks"] = 128
	id := user.Post("/api/v1/simple/simulations", submission).Want(202).Text("simulationId")
	s := user.Eventually("/api/v1/simulations/"+id, func(r servicetest.Reply) bool {
		status := r.Want(200).Object()["status"]
		return status != "provisioning" && status != "running"
	}).Object()
	if reason, _ := s["failureReason"].(string); s["status"] != "failed" || !strings.HasPrefix(reason, "credit exhausted; the last finished collective is ") {
		t.Errorf("the simulation is %v: %v", s["status"], s["failureReason"])
	}
	if listed := string(user.Get("/api/v1/simulations/" + id + "/results").Want(200).Body); !strings.Contains(listed, "summary.json") {
		t.Errorf("the results are %s, want those so far", listed)
	}
	var cost string
	today := time.Now().UTC()
	service.Eventually("/api/v1/billing/costs?startDate="+today.AddDate(0, 0, -1).Format(time.DateOnly)+"&endDate="+today.AddDate(0, 0, 1).Format(time.DateOnly), func(r servicetest.Reply) bool {
		var listed struct {
			Costs []struct{ ItemName, Cost string }
		}
		r.Want(200).Into(&listed)
		for _, c := range listed.Costs {
			if c.ItemName == "endless" {
				cost = c.Cost
			}
		}
		return cost != ""
	})
	// The bound is a second of the run and the time to stop it, for which a busy machine takes
	// some. Without an end by credit the run would go on for a day.
	if c, err := strconv.ParseFloat(cost, 64); err != nil || c < 0.004 || c > 0.004+10.0/3600*30 {
		t.Errorf("the run has cost %s (%v), want 0.004 and little more", cost, err)
	}
	message := user.Post("/api/v1/simple/simulations", servicetest.SimpleSubmission(8)).Refused(402, "PAYMENT_REQUIRED")
	if !strings.Contains(message, "exhausted") {
		t.Errorf("the next run is refused with %q", message)
	}
}
