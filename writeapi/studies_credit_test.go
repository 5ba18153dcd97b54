package writeapi_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/commands"
	"netsim/internal/servicetest"
)

// TestAStudyWithoutCreditIsTerminated, and goes on when there is credit again. One that
// needs runs does not start without credit.
func TestAStudyWithoutCreditIsTerminated(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	user := p.User(t, account)
	user.Post(studies, algorithms()).Refused(402, "PAYMENT_REQUIRED")
	if n := len(user.Get(studies).Want(200).Object()["studies"].([]any)); n != 0 {
		t.Errorf("%d studies were started", n)
	}
	p.SetQuota(t, account, commands.QuotaRunning, 0)
	p.Grant(t, account, "0.001") // less than a run holds
	id := startStudy(user, algorithms())
	path := studies + "/" + id
	user.Eventually(path, func(r servicetest.Reply) bool { return r.Object()["progress"].(object)["unfinished"] == 1.0 })
	user.Post(path+"/terminate", nil).Want(200)
	awaitStudy(user, id, "terminated")
	servicetest.AwaitStudyStopped(t, p.Config.Postgres, id)
	var other servicetest.Reply
	user.Eventually(path, func(servicetest.Reply) bool { // until the study's hold is released
		other = user.Post("/api/v1/simple/simulations", workload(16, phase("allReduce", "", 1024)))
		return other.Status == 202
	})
	user.Post(path+"/resume", nil).Want(200)
	done := awaitStudy(user, id, "terminated")
	if reason, _ := done["reason"].(string); !strings.Contains(reason, "credit") || done["progress"].(object)["waiting"] != 4.0 {
		t.Errorf("got %v, want terminated for want of credit", done)
	}
	p.Grant(t, account, "1000")
	p.SetQuota(t, account, commands.QuotaRunning, 8)
	user.Post(path+"/resume", nil).Want(200)
	if progress := awaitStudy(user, id, "completed")["progress"].(object); progress["completed"] != 4.0 {
		t.Errorf("the resumed study ends with %v", progress)
	}
}

// TestAStudyIsForecast: the forecast says what the study then does, and needs no credit.
func TestAStudyIsForecast(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	user := p.User(t, account)
	twice := with(algorithms(), object{"method": "list", "axes": []object{{"field": "workload.ranks", "values": []any{8, 16, 8}}}})
	forecast := func(body object) object { return user.Post(studies+"/preview", body).Want(200).Object() }
	want := object{"points": 3.0, "runs": 2.0, "shared": 1.0, "currency": "CREDIT", "mostHeld": "20"}
	if diff := cmp.Diff(want, forecast(twice)); diff != "" {
		t.Errorf("before any run (-want +got):\n%s", diff)
	}
	if held := forecast(sizes(300))["mostHeld"]; held != "1280" {
		t.Errorf("300 runs hold %v, want 1280, of 128 at a time", held)
	}
	p.Grant(t, account, "1000")
	awaitStudy(user, startStudy(user, twice), "completed")
	if got := forecast(twice); got["runs"] != 0.0 || got["shared"] != 3.0 || got["mostHeld"] != "0" || got["cost"] != "0" {
		t.Errorf("after the same study got %v, want everything shared", got)
	}
	got := forecast(sizes(2)) // with 8 ranks, one of them run before
	if seconds, _ := got["runSeconds"].(float64); got["runs"] != 1.0 || seconds <= 0 || got["cost"] == nil {
		t.Errorf("got %v, want one run with a time and a cost", got)
	}
	user.Post(studies+"/preview", with(algorithms(), object{"samples": 2})).Refused(400, "VALIDATION_ERROR")
	if n := len(user.Get(studies).Want(200).Object()["studies"].([]any)); n != 1 {
		t.Errorf("there are %d studies, want the one that was started", n)
	}
	p.Bearer(t, "").Post(studies+"/preview", twice).Refused(401, "UNAUTHORIZED")
	p.Service(t, account).Post(studies+"/preview", twice).Want(200)
}
