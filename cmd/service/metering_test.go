package service_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/internal/servicetest"
)

// billed is a billing event in the API's form.
type billed struct {
	BillingEventID, BillingItemID                   int64
	EventName, EventType, EventAction, RateName     string
	EventTimestamp, ReceivedAt, EventHash           string
	PreviousCount, CurrentCount, TotalBillableCount int64
	UserID, WorkspaceID                             *string
	Details                                         struct {
		Stream, PreviousHash, CauseID, CauseType, ResourceType, ResourceID, Engine string
		Sequence, Ranks, SizeBytes                                                 int64
	}
}

func (b billed) String() string {
	d := b.Details
	line := fmt.Sprintf("%s: %s %s of %s, %d to %d", b.EventName, b.EventType, b.EventAction, d.ResourceType, b.PreviousCount, b.CurrentCount)
	if d.Ranks > 0 {
		line += fmt.Sprintf(", %d ranks on %s", d.Ranks, d.Engine)
	}
	if d.SizeBytes > 0 {
		line += ", with a size"
	}
	return line
}

// TestMetering causes the events in the table of completions 7.2 through the API, and
// checks the billing: which items open and close, their counts, and that the billing
// events are records of the log.
func TestMetering(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	p.Grant(t, account, "1000")
	service := p.Service(t, account)
	workspace := func() string {
		return service.Post("/api/v1/workspaces", object{"name": "metered"}).Want(201).Text("id")
	}
	j := newJourney(t, p.User(t, account))
	m := meter{t: t, c: service}

	j.Workspace = workspace()
	m.items(1)
	ring := traces(t, "ring")
	first := j.upload(ring)
	m.items(2)
	mapping := j.Mapping("places.txt", "0 0\n1 1\n")
	m.items(3)
	shared := j.Workspace
	j.Workspace = workspace()
	m.items(4)
	second := j.upload(ring) // the library already exists
	simulation := j.Completed(j.Client.Post("/api/v1/simple/simulations", servicetest.SimpleSubmission(8)).Want(202).Text("simulationId"))
	m.items(7) // the run, its traceset, its results

	j.Client.Delete("/api/v1/simulations/" + simulation).Want(200)
	j.Client.Delete("/api/v1/mapping-files/" + mapping).Want(204)
	j.Client.Delete("/api/v1/tracesets/" + first).Want(204)
	m.active(4) // two workspaces, two libraries
	j.Client.Delete("/api/v1/tracesets/" + second).Want(204)
	m.active(3)
	service.Delete("/api/v1/workspaces/" + shared).Want(202)
	m.active(2)

	phases := slices.Repeat([]object{{"operationType": "allToAll", "dataSize": 1 << 40}}, 1000)
	long := j.Client.Post("/api/v1/simple/simulations", object{"workload": object{"ranks": 128, "phases": phases}}).Want(202).Text("simulationId")
	j.Client.Eventually("/api/v1/simulations/"+long, servicetest.HasStatus("running"))
	j.Client.Post("/api/v1/simulations/"+long+"/terminate", nil).Want(200)
	m.items(10) // the run, its traceset, and the results that it had when it was terminated
	m.active(4)

	log := m.events()
	var got []string
	for _, e := range log {
		got = append(got, e.String())
	}
	want := []string{
		"mapping_file.created: storage start of mapping_file, 0 to 1, with a size",
		"mapping_file.deleted: storage stop of mapping_file, 1 to 0, with a size",
		"simulation.completed: cluster stop of simulation, 1 to 0, 8 ranks on builtin",
		"simulation.deleted: storage stop of results, 1 to 0, with a size",
		"simulation.results_published: storage start of results, 0 to 1, with a size",
		"simulation.results_published: storage start of results, 0 to 1, with a size",
		"simulation.started: cluster start of simulation, 0 to 1, 128 ranks on builtin",
		"simulation.started: cluster start of simulation, 0 to 1, 8 ranks on builtin",
		"simulation.terminated: cluster stop of simulation, 1 to 0, 128 ranks on builtin",
		"traceset.created: storage start of traceset, 0 to 1, with a size",
		"traceset.created: storage start of traceset, 0 to 1, with a size",
		"traceset.created: storage start of traceset, 0 to 1, with a size",
		"traceset.deleted: storage stop of traceset, 1 to 0, with a size",
		"workspace.created: workspace start of workspace, 0 to 1",
		"workspace.created: workspace start of workspace, 0 to 1",
		"workspace.deleted: workspace stop of workspace, 1 to 0",
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("billing events (-want +got):\n%s", diff)
	}
	m.proven(log, accountRecords(t, p, account))
}

// TestLookUpsByNameAreLogged: a lookup of a person's billing by name is recorded in the
// account's stream, without the name.
func TestLookUpsByNameAreLogged(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	service := p.Service(t, account)
	p.User(t, account).Get("/api/v1/workspaces").Want(200) // adds the name to the directory
	all := service.Get("/api/v1/billing/rates").Want(200).Object()
	if diff := cmp.Diff(all, service.Get("/api/v1/billing/rates?userName=tester").Want(200).Object()); diff != "" || len(all["rates"].([]any)) == 0 {
		t.Errorf("the parameter userName changes the rates (-without +with):\n%s", diff)
	}
	service.Get("/api/v1/billing/events?userName=tester").Want(200)
	service.Get("/api/v1/billing/costs?startDate=2026-01-01&endDate=2026-01-02&userName=nobody").Want(200)
	records := accountRecords(t, p, account)
	var got []string
	for sequence := range int64(len(records)) {
		if a, ok := records[sequence+1].data.(events.AccessLogged); ok {
			got = append(got, fmt.Sprintf("%s by %s of %q", a.Operation, a.Caller, a.SubjectID))
		}
	}
	robot := events.DerivedID(events.UserPrefix, account, p.Config.Issuer, "robot")
	tester := events.DerivedID(events.UserPrefix, account, p.Config.Issuer, "tester")
	want := []string{
		fmt.Sprintf("ListRates by %s of %q", robot, tester), fmt.Sprintf("ListBillingEvents by %s of %q", robot, tester),
		fmt.Sprintf("ListCosts by %s of %q", robot, ""),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("logged (-want +got):\n%s", diff)
	}
}

// meter reads the billing of an account.
type meter struct {
	t *testing.T
	c *servicetest.Client
}

func (m meter) items(n int) {
	m.t.Helper()
	m.c.Eventually("/api/v1/billing/items", hasItems(n))
}

func (m meter) active(n int) {
	m.t.Helper()
	m.c.Eventually("/api/v1/billing/items?status=active", hasItems(n))
}

// events returns all billing events, in the order of the log.
func (m meter) events() (all []billed) {
	m.t.Helper()
	for cursor := ""; ; {
		var page struct {
			Events     []billed
			Pagination struct{ NextCursor string }
		}
		m.c.Get("/api/v1/billing/events?limit=5" + cursor).Want(200).Into(&page)
		all = append(all, page.Events...)
		if page.Pagination.NextCursor == "" {
			break
		}
		cursor = "&cursor=" + page.Pagination.NextCursor
	}
	slices.SortFunc(all, func(a, b billed) int { return int(a.Details.Sequence - b.Details.Sequence) })
	return all
}

// proven compares the events with the account's records in the log: each event has the
// hash of its record, and the counts of all active items add up.
func (m meter) proven(all []billed, records map[int64]record) {
	m.t.Helper()
	units, totals := map[int64]int64{}, map[string]int64{}
	for _, e := range all {
		r := records[e.Details.Sequence]
		u, ok := r.data.(events.UsageRecorded)
		if !ok {
			m.t.Fatalf("record %d of the account is %T, want %s", e.Details.Sequence, r.data, e)
		}
		want := []string{
			"sha256:" + r.hash, r.previous, u.OccurredAt.UTC().Format(events.TimeLayout), r.at.UTC().Format(events.TimeLayout), r.frame.CauseID, u.CauseType,
		}
		got := []string{e.EventHash, strings.TrimPrefix(e.Details.PreviousHash, "sha256:"), e.EventTimestamp, e.ReceivedAt, e.Details.CauseID, e.Details.CauseType}
		if diff := cmp.Diff(want, got); diff != "" {
			m.t.Errorf("%s (-log +API):\n%s", e, diff)
		}
		if e.PreviousCount != units[u.BillingItemID] {
			m.t.Errorf("%s: previous count %d, want %d", e, e.PreviousCount, units[u.BillingItemID])
		}
		units[u.BillingItemID] = e.CurrentCount
		totals[e.RateName] += e.CurrentCount - e.PreviousCount
		if e.TotalBillableCount != totals[e.RateName] {
			m.t.Errorf("%s: total count %d, want %d", e, e.TotalBillableCount, totals[e.RateName])
		}
	}
}

// record is a decoded record of the log.
type record struct {
	frame          events.Frame
	hash, previous string // hex
	data           events.Data
	at             time.Time
}

// accountRecords reads the records of an account's stream, by sequence.
func accountRecords(t *testing.T, p *servicetest.Program, account string) map[int64]record {
	t.Helper()
	j, err := eventlog.Open(t.Context(), eventlog.Config{Brokers: p.Config.Kafka, Prefix: p.Config.TopicPrefix, Relaxed: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	found := map[int64]record{}
	partition := events.PartitionOf(account, p.Config.Partitions)
	for from, end := int64(0), int64(1); from < end; {
		records, high, err := j.Read(t.Context(), j.Topic(events.Billing), partition, from, 4<<20, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		for i := range records {
			frame, hash, err := events.ReadFrame(&records[i].Message)
			if err != nil || frame.Stream != account {
				continue
			}
			data, err := events.Decode(frame.Type, records[i].Value)
			if err != nil {
				t.Fatal(err)
			}
			found[frame.Sequence] = record{frame, hash.String(), frame.PreviousHash.String(), data, records[i].Time}
		}
		end = high
		if len(records) > 0 {
			from = records[len(records)-1].Offset + 1
		}
	}
	return found
}

func hasItems(n int) func(servicetest.Reply) bool {
	return func(r servicetest.Reply) bool {
		items, _ := r.Object()["items"].([]any)
		return r.Status == 200 && len(items) == n
	}
}
