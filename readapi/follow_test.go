package readapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/api"
	"netsim/cmd/settings"
	"netsim/commands"
	"netsim/events"
	"netsim/infra/auth"
	"netsim/internal/servicetest"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
	"netsim/projections"
	"netsim/readapi"
	"netsim/readapi/access"
)

// received is an event that a client received.
type received struct {
	ID          int64
	Name        string
	Status      string
	SimulatedNs string // of the progress
	Stalled     bool
}

// message is a server-sent event with data of a type.
type message[T any] struct {
	ID   int64
	Name string
	Data T
}

// readMessages reads a stream to its end, or to the first message that is the last one.
func readMessages[T any](t *testing.T, r io.Reader, last func(message[T]) bool) (all []message[T]) {
	t.Helper()
	var one message[T]
	for lines := bufio.NewReader(r); ; { // r itself if it is one
		line, err := lines.ReadString('\n')
		if err != nil {
			return all
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			one.ID, _ = strconv.ParseInt(value, 10, 64)
		case "event":
			one.Name = value
		case "data":
			if err := json.Unmarshal([]byte(value), &one.Data); err != nil {
				t.Errorf("decode an event: %v: %s", err, value)
			}
		case "":
			if one.ID == 0 {
				continue
			}
			all = append(all, one)
			if last != nil && last(one) {
				return all
			}
			one = message[T]{}
		}
	}
}

// readEvents reads the stream of a simulation to its end.
func readEvents(t *testing.T, r io.Reader) (all []received) {
	t.Helper()
	for _, m := range readMessages[api.SimulationEvent](t, r, nil) {
		one := received{ID: m.ID, Name: m.Name, Status: string(m.Data.Status)}
		if p := m.Data.Progress; p != nil {
			one.SimulatedNs, one.Stalled = p.SimulatedTime, !p.StalledSince.IsZero()
		}
		all = append(all, one)
	}
	return all
}

// followed is a simulation, with the API that streams its events.
type followed struct {
	*testworld.World
	api *readapi.API
	id  string
}

func newFollowed(t *testing.T) *followed {
	t.Helper()
	f := &followed{World: testworld.New(t), id: events.NewID(events.SimulationPrefix)}
	f.api = &readapi.API{Access: &access.Access{DB: f.DB, Rows: projections.NewLookups(f.DB)}, Now: time.Now, Heartbeat: 20 * time.Millisecond}
	f.api.Followers = &readapi.Followers{DB: f.DB, Log: f.Logger, Changes: func() (<-chan struct{}, func()) {
		return f.Watcher.Changes(events.Simulations, events.Workspaces)
	}}
	workspace := events.NewID(events.WorkspacePrefix)
	testworld.Do(t, f.World, workspace, commands.CreateWorkspace{AccountID: testworld.Account, Name: "w"})
	testworld.Do(t, f.World, f.id, commands.RequestSimulation{Requested: events.SimulationRequested{
		Origin: commands.OriginSimple, AccountID: testworld.Account, WorkspaceID: workspace,
		ConfigurationID: events.NewID(events.ConfigurationPrefix), ConfigurationVersion: 1, Name: "run", DurationNs: 1e9,
	}})
	testworld.Do(t, f.World, f.id, commands.StartSimulation{Started: events.SimulationStarted{Engine: "builtin", RunID: "r", Ranks: 8}})
	return f
}

// follow returns the stream of the events after an event, nil if the simulation is over
// and has no later event.
func (f *followed) follow(t *testing.T, ctx context.Context, after int64) io.ReadCloser {
	t.Helper()
	ctx = auth.WithCaller(ctx, auth.Caller{UserID: "u", AccountID: testworld.Account, AllWorkspaces: true})
	r := api.FollowSimulationRequestObject{SimID: f.id}
	r.Params.LastEventIDHeader = after
	reply, err := f.api.FollowSimulation(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	if stream, ok := reply.(api.FollowSimulation200TextEventStreamResponse); ok {
		return stream.Body.(io.ReadCloser)
	}
	return nil
}

// collect reads a stream in the background and closes it at the end.
func collect(t *testing.T, stream io.ReadCloser) <-chan []received {
	t.Helper()
	got := make(chan []received, 1)
	go func() {
		all := readEvents(t, stream)
		stream.Close() // before the test sees them, and counts the followers
		got <- all
	}()
	return got
}

// TestFollow: whenever a follower starts, it gets every later status and progress
// once, in order, up to the final status.
func TestFollow(t *testing.T) {
	t.Parallel()
	f := newFollowed(t)
	testworld.Running(t, f.api.Followers.Run)
	begin := collect(t, f.follow(t, t.Context(), 0))
	want := []received{{ID: 1, Name: "status", Status: "provisioning"}, {ID: 2, Name: "status", Status: "running"}}
	var joined []<-chan []received
	for i := range int64(20) {
		ns := (i + 1) * 1000
		testworld.Do(t, f.World, f.id, commands.ReportProgress{Progress: events.Progress{SimulatedTimeNs: ns, EventsProcessed: ns}})
		text := fmt.Sprintf("%dus", i+1)
		want = append(want, received{ID: 3 + i, Name: "progress", Status: "running", SimulatedNs: text})
		joined = append(joined, collect(t, f.follow(t, t.Context(), i)))
	}
	testworld.Do(t, f.World, f.id, commands.ReportProgress{StalledSince: time.Now()})
	want = append(want, received{ID: 23, Name: "progress", Status: "running", SimulatedNs: "20us", Stalled: true})
	testworld.Do(t, f.World, f.id, commands.PublishResults{Published: events.SimulationResultsPublished{Manifest: "m"}})
	testworld.Do(t, f.World, f.id, commands.CompleteSimulation{Completed: events.SimulationCompleted{Progress: events.Progress{SimulatedTimeNs: 50_000, EventsProcessed: 50_000}}})
	want = append(want, received{ID: 25, Name: "status", Status: "completed", SimulatedNs: "50us"})

	if diff := cmp.Diff(want, testwait.Receive(t, begin, "the events from the beginning")); diff != "" {
		t.Errorf("from the beginning (-want +got):\n%s", diff)
	}
	for i, stream := range joined {
		if diff := cmp.Diff(want[i:], testwait.Receive(t, stream, "the events of the stream")); diff != "" {
			t.Errorf("after %d (-want +got):\n%s", i, diff)
		}
	}
	for after := range int64(25) {
		rest := slices.DeleteFunc(slices.Clone(want), func(e received) bool { return e.ID <= after })
		if diff := cmp.Diff(rest, readEvents(t, f.follow(t, t.Context(), after))); diff != "" {
			t.Errorf("after %d, later (-want +got):\n%s", after, diff)
		}
	}
	if f.follow(t, t.Context(), 25) != nil {
		t.Error("got a stream after the final event, want none")
	}
}

// TestFollowEnds: a stream ends when its client leaves, when the simulation's
// workspace is deleted and when the service ends. No follower remains.
func TestFollowEnds(t *testing.T) {
	t.Parallel()
	f := newFollowed(t)
	running, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.api.Followers.Run(running) }()

	client, leave := context.WithCancel(t.Context())
	var left []<-chan []received
	for range 50 {
		left = append(left, collect(t, f.follow(t, client, 0)))
	}
	stays := f.follow(t, t.Context(), 0)
	lines := bufio.NewReader(stays)
	for line := ""; line != ":\n"; { // a heartbeat
		var err error
		if line, err = lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	leave()
	for _, stream := range left {
		if got := testwait.Receive(t, stream, "the events of the stream"); len(got) != 2 {
			t.Errorf("a client that left got %v, want 2 events", got)
		}
	}
	if n := f.api.Followers.Open(); n != 1 {
		t.Errorf("got %d followers, want 1", n)
	}

	workspace := f.Simulation(t, f.id).WorkspaceID
	testworld.Do(t, f.World, workspace, commands.DeleteWorkspace{ID: workspace})
	if rest, err := io.ReadAll(lines); err != nil {
		t.Errorf("the stream of a deleted workspace: got %q, %v, want its end", rest, err)
	}
	if n := f.api.Followers.Open(); n != 0 {
		t.Errorf("got %d followers of a deleted simulation, want 0", n)
	}

	f2 := newFollowed(t)
	f2.api.Followers = f.api.Followers
	last := collect(t, f2.follow(t, t.Context(), 2))
	end()
	if err := testwait.Receive(t, ended, "the feed to end"); err != nil {
		t.Error(err)
	}
	if got := testwait.Receive(t, last, "the events of the last stream"); len(got) > 0 {
		t.Errorf("got %v when the service ended, want no event", got)
	}
	ctx := auth.WithCaller(t.Context(), auth.Caller{UserID: "u", AccountID: testworld.Account, AllWorkspaces: true})
	if _, err := f2.api.FollowSimulation(ctx, api.FollowSimulationRequestObject{SimID: f2.id}); err == nil {
		t.Error("a stream began after the service ended, want an error")
	}
}

// TestFollowOverHTTP: a client can follow a run from its submission to its end, and
// from any event. Callers who may not see the simulation are refused.
func TestFollowOverHTTP(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	user := p.User(t, account)
	id := submit(t, user, workload(8, "allReduce"))
	path := simulations + "/" + id + "/events"

	whole := user.Get(path).Want(200)
	if h := whole.Header; h.Get("Content-Type") != "text/event-stream" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("got the header %v, want an event stream that is not cached", h)
	}
	if !strings.HasPrefix(string(whole.Body), "retry: 2000\n\n") {
		t.Errorf("the stream begins with %.40q, want the retry delay", whole.Body)
	}
	got := readEvents(t, strings.NewReader(string(whole.Body)))
	var statuses []string
	for _, e := range got {
		if e.Name == "status" {
			statuses = append(statuses, e.Status)
		}
	}
	if want := []string{"provisioning", "running", "completed"}; !slices.Equal(statuses, want) {
		t.Errorf("statuses %v, want %v", statuses, want)
	}
	after := func(id int64) servicetest.Header {
		return servicetest.Header{Name: "Last-Event-ID", Value: strconv.FormatInt(id, 10)}
	}
	for i, e := range got[:len(got)-1] {
		for _, reply := range []servicetest.Reply{
			user.Get(path, after(e.ID)), user.Get(fmt.Sprintf("%s?lastEventId=%d", path, e.ID)), user.Get(path+"?lastEventId=1", after(e.ID)),
		} {
			if diff := cmp.Diff(got[i+1:], readEvents(t, strings.NewReader(string(reply.Want(200).Body)))); diff != "" {
				t.Errorf("after %d (-want +got):\n%s", e.ID, diff)
			}
		}
	}
	user.Get(path, after(got[len(got)-1].ID)).Want(204)
	user.Do("HEAD", path, nil).Want(200)
	progress := user.Get(simulations + "/" + id).Want(200).Object()["progress"].(object)
	if progress["finishedRanks"] != 8.0 || progress["totalRanks"] != 8.0 || progress["totalBytes"] != progress["deliveredBytes"] ||
		progress["finishedCollectives"] != 1.0 || progress["lastCollective"] != "allReduce 0 of group 0" {
		t.Errorf("got the progress %v, want all ranks finished", progress)
	}

	for _, bad := range []string{"x", "-1", "1.5"} {
		user.Get(path+"?lastEventId="+bad).Refused(400, "VALIDATION_ERROR")
	}
	user.Get(path, servicetest.Header{Name: "Last-Event-ID", Value: "x"}).Refused(400, "VALIDATION_ERROR")
	p.Bearer(t, "").Get(path).Refused(401, "UNAUTHORIZED")
	p.User(t, servicetest.NewAccount()).Get(path).Refused(404, "NOT_FOUND")
	user.Get(simulations+"/"+events.NewID(events.SimulationPrefix)+"/events").Refused(404, "NOT_FOUND")
	user.Delete(simulations + "/" + id).Want(200)
	user.Get(path).Refused(404, "NOT_FOUND")
}

// TestFollowIsBounded: the number of streams is limited, and a stream ends at its
// maximum age.
func TestFollowIsBounded(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.MaxStreams, c.StreamLife = 1, time.Hour })
	account := funded(t, p)
	user := p.User(t, account)
	id := submit(t, user, endless())
	path := simulations + "/" + id + "/events"
	open := begun(t, user, path)
	if reply := user.Get(path); reply.Refused(429, "RATE_LIMITED") == "" || reply.Header.Get("Retry-After") == "" {
		t.Errorf("got the header %v, want Retry-After", reply.Header)
	}
	open.Body.Close()

	short := begun(t, withStreams(t, p, 2*time.Second).User(t, account), path)
	defer short.Body.Close()
	if first := readEvents(t, short.Body); len(first) == 0 || first[0].ID != 1 || slices.ContainsFunc(first, func(e received) bool { return e.Status == "completed" }) {
		t.Errorf("got %v from a stream that reached its maximum age, want events from 1, without the final one", first)
	}
	user.Eventually(simulations+"/"+id, func(r servicetest.Reply) bool { return r.Object()["status"] == "running" })
	user.Post(simulations+"/"+id+"/terminate", nil).Want(http.StatusOK)
	user.Eventually(path, func(r servicetest.Reply) bool {
		all := readEvents(t, strings.NewReader(string(r.Body)))
		return r.Status == 200 && len(all) > 0 && all[len(all)-1].Status == "terminated"
	})
}

// endless returns a workload whose simulation takes longer than any test.
func endless() object {
	phases := make([]object, 64)
	for i := range phases {
		phases[i] = object{"operationType": "allToAll", "dataSize": 1 << 20}
	}
	return object{"workload": object{"ranks": 256, "phases": phases}}
}
