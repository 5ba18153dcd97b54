package service_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"netsim/audit"
	"netsim/cmd/operate"
	"netsim/cmd/settings"
	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
)

const (
	bundlePath     = "/api/v1/billing/bundle"
	checkpointPath = "/api/v1/billing/checkpoints"
)

// books is a service with two accounts that have run something, and a person who reads the
// billing of one of them.
type books struct {
	*servicetest.Program
	account, other string
	person         *servicetest.Client
	day            string // that has begun
	today          string // asks for the bundle of the day
}

func newBooks(t *testing.T) books {
	t.Helper()
	b := books{Program: servicetest.Start(t), account: servicetest.NewAccount(), other: servicetest.NewAccount()}
	b.person = b.Person(t, b.account, "billing")
	b.day = time.Now().UTC().Format(time.DateOnly)
	b.today = fmt.Sprintf("%s?from=%s&to=%s&preliminary=true", bundlePath, b.day, b.day)
	b.person.Eventually(checkpointPath, func(r servicetest.Reply) bool { // that of the start, which has no events of the accounts
		list, _ := r.Object()["checkpoints"].([]any)
		return len(list) > 0
	})
	for _, account := range []string{b.account, b.other} {
		b.Grant(t, account, "100")
	}
	return b
}

// run runs a simulation for each account, and waits until it is booked.
func (b books) run(t *testing.T) {
	t.Helper()
	for _, account := range []string{b.account, b.other} {
		user := b.User(t, account)
		id := user.Post("/api/v1/simple/simulations", servicetest.SimpleSubmission(16)).Want(202).Text("simulationId")
		user.Eventually("/api/v1/simulations/"+id, servicetest.HasStatus("completed"))
		b.Service(t, account).Eventually("/api/v1/billing/items?eventType=cluster&status=closed", func(r servicetest.Reply) bool {
			return bytes.Contains(r.Body, []byte(id))
		})
	}
	servicetest.AwaitQuiet(t, b.Config.Kafka[0], b.Config.TopicPrefix, b.Config.Postgres)
}

// verify verifies a bundle of the day that has just begun.
func (b books) verify(t *testing.T, bundle []byte, notes ...string) audit.BundleReport {
	t.Helper()
	verifier, err := operate.Verifier("", b.Config.AuditKey)
	if err != nil {
		t.Fatal(err)
	}
	r, err := audit.VerifyBundle(bytes.NewReader(bundle), audit.Wanted{Verifier: verifier, Account: b.account, Preliminary: true, Notes: notes})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// byCommand returns the bundle that netsim audit bundle writes.
func (b books) byCommand(t *testing.T) []byte {
	t.Helper()
	c := &b.Config
	auditor, err := operate.OpenAudit(t.Context(), settings.Audit{Online: settings.Online{
		Offline: settings.Offline{TopicPrefix: c.TopicPrefix, Platform: c.Platform, Key: c.AuditKey, WriterKeys: c.WriterKeys}, Kafka: c.Kafka,
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer auditor.Close()
	var out bytes.Buffer
	if err := auditor.Bundle(t.Context(), audit.Request{Account: b.account, From: b.day, To: b.day, Preliminary: true}, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestABundleOverHTTP: a person with the role billing gets the bundle of the account, which
// verifies, has the bytes that the command writes, and nothing of another account. Its
// checkpoints can be read by name.
func TestABundleOverHTTP(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.person.Get(b.today).Refused(409, "CONFLICT") // the checkpoint is from before the account's events
	b.run(t)
	b.Checkpoint(t, "today:1")
	bundle := b.person.Get(b.today).Want(200)
	if got := bundle.Header.Get("Content-Type"); got != "application/x-ndjson" {
		t.Errorf("content type %q", got)
	}
	note := b.person.Get(checkpointPath + "/today:1").Want(200)
	r := b.verify(t, bundle.Body, string(note.Body))
	if len(r.Problems) > 0 || r.Costs == 0 || r.Rated.Days == 0 || r.Checkpoints < 2 {
		t.Errorf("the verification: %+v", r)
	}
	if !bytes.Equal(bundle.Body, b.byCommand(t)) {
		t.Error("the command writes another bundle")
	}
	for _, c := range []*servicetest.Client{
		b.Service(t, b.account), b.Client(t, devissuer.Options{Service: true, Account: b.account, Roles: []string{"billing", "operator"}}),
	} {
		if got := c.Get(b.today).Want(200); !bytes.Equal(got.Body, bundle.Body) {
			t.Error("a service gets another bundle")
		}
	}
	platform := b.Client(t, devissuer.Options{Service: true, Account: "*"})
	if got := platform.Get(b.today + "&account=" + b.account).Want(200); !bytes.Equal(got.Body, bundle.Body) {
		t.Error("a service for every account gets another bundle")
	}
	for what, text := range map[string][]byte{"the bundle": bundle.Body, "the checkpoint": note.Body} {
		for _, secret := range []string{b.other, "tester", "robot"} {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s has %s", what, secret)
			}
		}
	}
	if bytes.Contains(note.Body, []byte("acct_")) {
		t.Errorf("the checkpoint has the id of an account: %s", note.Body)
	}
	for i := range 20 { // all over the file
		forged := bytes.Clone(bundle.Body)
		at := i * (len(forged) - 1) / 19
		forged[at] ^= 1
		if r := b.verify(t, forged); len(r.Problems) == 0 {
			t.Errorf("the forged byte %d is not found", at)
		}
	}
}

// TestWhoReadsTheBooks is the table of who reads bundles and checkpoints of which account.
func TestWhoReadsTheBooks(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.run(t)
	b.Checkpoint(t, "made")
	roles := func(account string, roles ...string) *servicetest.Client { return b.Person(t, account, roles...) }
	for name, test := range map[string]struct {
		client                   *servicetest.Client
		own, others, checkpoints int
	}{
		"a user":                      {roles(b.account), 403, 403, 403},
		"a user with billing":         {roles(b.account, "billing"), 200, 403, 200},
		"a user with operator":        {roles(b.account, "operator"), 403, 403, 403},
		"a user with both":            {roles(b.account, "billing", "operator"), 200, 403, 200},
		"a user with another role":    {roles(b.account, "Billing", "service"), 403, 403, 403},
		"a service":                   {b.Service(t, b.account), 200, 403, 200},
		"a service for every account": {b.Client(t, devissuer.Options{Service: true, Account: "*"}), 400, 200, 200},
		"nobody":                      {b.Bearer(t, ""), 401, 401, 401},
	} {
		for path, want := range map[string]int{
			b.today: test.own, b.today + "&account=" + b.other: test.others, checkpointPath: test.checkpoints, checkpointPath + "/made": test.checkpoints,
		} {
			if got := test.client.Get(path); got.Status != want {
				t.Errorf("%s, %s: got %d %.200s, want %d", name, path, got.Status, got.Body, want)
			}
		}
	}
	// The role opens the other reads of billing, too, and shows one account.
	for _, path := range []string{"balance", "items", "events", "rates", "costs?startDate=2026-11-01&endDate=2026-11-30", "costs/summary?startDate=2026-11-01&endDate=2026-11-30"} {
		got := b.person.Get("/api/v1/billing/" + path).Want(200)
		if bytes.Contains(got.Body, []byte(b.other)) {
			t.Errorf("%s shows another account: %s", path, got.Body)
		}
		roles(b.account).Get("/api/v1/billing/"+path).Refused(403, "FORBIDDEN")
		roles(b.account, "operator").Get("/api/v1/billing/"+path).Refused(403, "FORBIDDEN")
	}
	b.person.Post("/api/v1/workspaces", object{"name": "w"}).Refused(403, "FORBIDDEN") // which is for services
}

// TestAPeriodWithoutACheckpoint: a period that has not ended, or has no checkpoint after it,
// has no bundle yet.
func TestAPeriodWithoutACheckpoint(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.run(t)
	b.Checkpoint(t, "made")
	b.person.Get(b.today).Want(200)
	if said := b.person.Get(strings.TrimSuffix(b.today, "&preliminary=true")).Refused(409, "CONFLICT"); !strings.Contains(said, "no checkpoint") {
		t.Errorf("today, not preliminary: %s", said)
	}
	b.person.Get(bundlePath+"?preliminary=true&from=2100-01-01&to=2100-01-02").Refused(409, "CONFLICT")
	nothing := b.Person(t, events.NewID(events.AccountPrefix), "billing")
	if said := nothing.Get(b.today).Refused(409, "CONFLICT"); !strings.Contains(said, "no billing event") {
		t.Errorf("an account without events: %s", said)
	}
}

// TestABundleWithoutAKey: a service without an audit key seals no bundle.
func TestABundleWithoutAKey(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.AuditKey = "" })
	reply := p.Person(t, servicetest.NewAccount(), "billing").Get(bundlePath + "?from=2026-11-01&to=2026-11-01")
	if said := reply.Refused(503, "SERVICE_UNAVAILABLE"); !strings.Contains(said, "no audit key") || reply.Header.Get("Retry-After") != "" {
		t.Errorf("got %q, Retry-After %q", said, reply.Header.Get("Retry-After"))
	}
}
