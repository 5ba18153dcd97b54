package service_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"netsim/cmd/operate"
	"netsim/cmd/settings"
	"netsim/commands"
	"netsim/infra/web"
	"netsim/internal/servicetest"
	"netsim/internal/testwait"
)

// limit returns one quota in the form of the operator's command.
func limit(name string, n int64) map[string]*int64 { return map[string]*int64{name: &n} }

// until calls done until it returns true.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.NewTimer(testwait.Limit(t))
	defer deadline.Stop()
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	for !done() {
		select {
		case <-every.C:
		case <-deadline.C:
			t.Fatalf("still waiting: %s", what)
		}
	}
}

// exceeded fails the test unless the reply refuses a request because of the quota, with
// the policy in its headers.
func exceeded(t *testing.T, r servicetest.Reply, name, policy string) {
	t.Helper()
	r.Refused(429, "RATE_LIMITED")
	h := r.Header
	if got, want := h.Get("RateLimit-Policy"), `"`+name+`";`+policy; got != want {
		t.Errorf("RateLimit-Policy: %s, want %s", got, want)
	}
	after := h.Get("Retry-After")
	if got, want := h.Get("RateLimit"), `"`+name+`";r=0;t=`+after; got != want || after == "" || after == "0" {
		t.Errorf("RateLimit: %s, Retry-After: %s, want %s", got, after, want)
	}
}

// TestEveryQuotaHasADefault: every quota that the service checks has a default, and every
// default belongs to a quota that the service checks.
func TestEveryQuotaHasADefault(t *testing.T) {
	t.Parallel()
	known := commands.DefaultQuotas()
	names := []string{web.QuotaStreams, commands.QuotaRuns, commands.QuotaRunning, commands.QuotaUploads, commands.QuotaStorage, commands.QuotaStudies}
	for _, class := range web.Classes() {
		names = append(names, web.QuotaOf(class))
	}
	for _, name := range names {
		if known[name] <= 0 {
			t.Errorf("%s has the default %d, want more than 0", name, known[name])
		}
		delete(known, name)
	}
	if len(known) > 0 {
		t.Errorf("the service does not check the quotas %v", known)
	}
}

// TestThePageOfQuotasIsTrue: docs/quotas.md has every quota, every cost class and their
// settings, with the defaults that apply.
func TestThePageOfQuotasIsTrue(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/quotas.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Split(strings.ReplaceAll(string(text), ",", ""), "\n")
	check := func(name, want string) {
		if !slices.ContainsFunc(page, func(line string) bool {
			return strings.Contains(line, "`"+name+"`") && strings.Contains(line, want)
		}) {
			t.Errorf("no line of the page has %s with %s", name, want)
		}
	}
	for name, limit := range commands.DefaultQuotas() {
		want := fmt.Sprintf("| %d ", limit)
		switch name {
		case commands.QuotaStorage:
			want = fmt.Sprintf("| %d TB ", limit/1_000_000_000_000)
		case commands.QuotaRunning:
			want = "| " + operate.QuotaText(limit)
		}
		check(name, want)
	}
	slots := map[web.Class]string{
		web.ClassRead: "NETSIM_MAX_READS", web.ClassWrite: "NETSIM_MAX_WRITES", web.ClassHeavy: "NETSIM_MAX_HEAVY",
		web.ClassStream: "NETSIM_MAX_STREAMS", web.ClassUpload: "NETSIM_MAX_UPLOADS", web.ClassContent: "NETSIM_MAX_CONTENT",
	}
	for _, class := range web.Classes() {
		check(string(class), "| `"+slots[class]+"` ")
	}
	shown := map[string]string{"30s": "(30 s)", "131072 bytes a second": "(128 KiB)", "268435456 bytes (256 MiB)": "(256 MiB)"}
	named := append(slices.Collect(maps.Values(slots)), "NETSIM_BODY_TIMEOUT", "NETSIM_BODY_RATE", "NETSIM_BODY_MEMORY")
	for _, s := range settings.All() {
		if slices.Contains(named, s.Variable) {
			number, _, _ := strings.Cut(s.Default, " ")
			check(s.Variable, cmp.Or(shown[s.Default], number))
		}
	}
}

// TestAQuotaHoldsInEveryProcess: a quota set by an operator takes effect in every process
// of the API, for this account only, until it is reset.
func TestAQuotaHoldsInEveryProcess(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.Quotas = map[string]int64{"requests.heavy": 7} })
	other := servicetest.Start(t, func(c *settings.Config) { *c = p.Config; c.Roles = []string{settings.RoleAPI} })
	account := servicetest.NewAccount()
	for _, one := range []*servicetest.Program{p, other} {
		r := one.User(t, account).Post("/api/v1/topology/validate", nil)
		if r.Status != 400 || r.Header.Get("RateLimit-Policy") != `"requests.heavy";q=7;w=1` || r.Header.Get("RateLimit") != `"requests.heavy";r=6;t=1` {
			t.Errorf("with the quota of the settings: %d %v", r.Status, r.Header)
		}
	}
	p.SetQuotas(t, account, limit("requests.read", 0))
	for _, one := range []*servicetest.Program{p, other} {
		user := one.Service(t, account)
		exceeded(t, user.Eventually("/api/v1/workspaces", func(r servicetest.Reply) bool { return r.Status != 200 }), "requests.read", "q=0;w=1")
		user.Post("/api/v1/workspaces", map[string]any{"name": "w"}).Want(201)
		one.User(t, servicetest.NewAccount()).Get("/api/v1/workspaces").Want(200)
	}
	again := servicetest.Start(t, func(c *settings.Config) { *c = p.Config; c.Roles = []string{settings.RoleAPI} })
	exceeded(t, again.User(t, account).Get("/api/v1/workspaces"), "requests.read", "q=0;w=1")
	p.SetQuotas(t, account, map[string]*int64{"requests.read": nil})
	for _, one := range []*servicetest.Program{p, other, again} {
		one.User(t, account).Eventually("/api/v1/workspaces", func(r servicetest.Reply) bool { return r.Status == 200 })
	}
}

func TestTheQuotaOfStreams(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	p.Grant(t, account, "1000")
	user := p.User(t, account)
	id := user.Post("/api/v1/simple/simulations", endless()).Want(202).Text("simulationId")
	path := "/api/v1/simulations/" + id + "/events"
	p.SetQuota(t, account, web.QuotaStreams, 1)
	first := user.Open(path)
	defer first.Body.Close() //nolint:errcheck // the body is not read
	if first.StatusCode != 200 {
		t.Fatalf("the first stream: %s", first.Status)
	}
	exceeded(t, user.Get(path), web.QuotaStreams, `q=1;qu="concurrent-requests"`)
	first.Body.Close() //nolint:errcheck // only the end of the stream matters
	until(t, "the closed stream no longer counts", func() bool {
		resp := user.Open(path)
		defer resp.Body.Close() //nolint:errcheck // the body is not read
		return resp.StatusCode == 200
	})
	user.Post("/api/v1/simulations/"+id+"/terminate", nil)
}

// endless returns a workload that takes longer than any test.
func endless() map[string]any {
	phases := make([]any, 64)
	for i := range phases {
		phases[i] = map[string]any{"operationType": "allToAll", "dataSize": 1 << 20}
	}
	return map[string]any{"workload": map[string]any{"ranks": 256, "phases": phases}}
}

// TestTheQuotaOfRuns: above the quota no run is started, but a repeated request still gets
// its run. After a run has ended, another one can be started.
func TestTheQuotaOfRuns(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	p.Grant(t, account, "1000")
	p.SetQuota(t, account, commands.QuotaRuns, 1)
	user := p.User(t, account)
	const submit = "/api/v1/simple/simulations"
	key := servicetest.Header{Name: "Idempotency-Key", Value: "first"}
	first := user.Post(submit, endless(), key).Want(202)
	id := first.Text("simulationId")
	exceeded(t, user.Post(submit, endless()), commands.QuotaRuns, "q=1")
	if again := user.Post(submit, endless(), key).Want(202).Text("simulationId"); again != id {
		t.Errorf("the repeated request started %s, want %s", again, id)
	}
	end(t, user, id)
	next := user.Post(submit, endless()).Want(202)
	end(t, user, next.Text("simulationId"))
}

// TestTheQuotaOfRunningRuns: above the quota a run waits although a worker is free. It
// runs when another run of the account has ended.
func TestTheQuotaOfRunningRuns(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.Workers = 3 })
	account, other := servicetest.NewAccount(), servicetest.NewAccount()
	p.SetQuotas(t, account, limit(commands.QuotaRunning, 1))
	submit := func(account string) (*servicetest.Client, string) {
		p.Grant(t, account, "1000")
		user := p.User(t, account)
		return user, user.Post("/api/v1/simple/simulations", endless()).Want(202).Text("simulationId")
	}
	const path = "/api/v1/simulations/"
	user, first := submit(account)
	user.Eventually(path+first, servicetest.HasStatus("running"))
	_, second := submit(account)
	third, elsewhere := submit(other)
	third.Eventually(path+elsewhere, servicetest.HasStatus("running")) // submitted after second
	if got := user.Get(path + second).Want(200).Object()["status"]; got != "provisioning" && got != "validating" {
		t.Errorf("a run above the quota is %v, want it to wait", got)
	}
	end(t, user, first)
	user.Eventually(path+second, servicetest.HasStatus("running"))
	end(t, user, second)
	end(t, third, elsewhere)
}

// end terminates a run.
func end(t *testing.T, user *servicetest.Client, simulation string) {
	t.Helper()
	path := "/api/v1/simulations/" + simulation
	user.Eventually(path, servicetest.HasStatus("running"))
	user.Post(path+"/terminate", nil).Want(200)
	user.Eventually(path, servicetest.HasStatus("terminated"))
}
