package readapi_test

import (
	"bufio"
	"context"
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
	"netsim/fault"
	"netsim/infra/auth"
	"netsim/internal/servicetest"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
	"netsim/readapi"
)

type studyEvent = message[api.StudyEvent]

// readStudy reads the stream of a study, as readMessages does.
func readStudy(t *testing.T, r io.Reader, last func(studyEvent) bool) []studyEvent {
	t.Helper()
	return readMessages(t, r, last)
}

// wholeStudy reads a whole stream.
func wholeStudy(t *testing.T, reply servicetest.Reply) []studyEvent {
	t.Helper()
	return readStudy(t, strings.NewReader(string(reply.Want(200).Body)), nil)
}

// messageSizes returns the request of a study with that many points.
func messageSizes(n int) object {
	values := make([]int, n)
	for i := range values {
		values[i] = 1024 * (i + 1)
	}
	return object{
		"name": "sizes", "base": object{"simple": workload(8, "allReduce")},
		"axes": []object{{"field": "workload.phases[0].dataSize", "values": values}},
	}
}

func afterEvent(id int64) servicetest.Header {
	return servicetest.Header{Name: "Last-Event-ID", Value: strconv.FormatInt(id, 10)}
}

// TestFollowStudy: a client can follow a study from its start to its end. Each event is
// another state, which names its change and counts all points; the last one is that of
// GET. A client that has another event gets the state that there is now.
func TestFollowStudy(t *testing.T) {
	t.Parallel()
	const points = 12
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	study := user.Post(studies, messageSizes(points)).Want(201).Object()["id"].(string)
	path := studies + "/" + study + "/events"

	whole := user.Get(path)
	got := wholeStudy(t, whole)
	if h := whole.Header; h.Get("Content-Type") != "text/event-stream" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("got the header %v, want an event stream that is not cached", h)
	}
	if !strings.HasPrefix(string(whole.Body), "retry: 2000\n\n") {
		t.Errorf("the stream begins with %.40q, want the retry delay", whole.Body)
	}
	var before studyEvent
	for i, e := range got {
		name := "progress"
		if e.Data.Status != before.Data.Status {
			name = "status"
		}
		c := e.Data.Progress
		if sum := c.Waiting + c.Shared + c.Unfinished + c.Completed + c.Failed + c.Terminated + c.Invalid; e.Name != name || e.Data.StudyID != study || sum != points {
			t.Errorf("event %d is %+v, want %s of %d points", i, e, name, points)
		}
		if e.ID == before.ID || e.Data == before.Data {
			t.Errorf("event %d repeats the one before: %+v", i, e)
		}
		if c.Completed < before.Data.Progress.Completed {
			t.Errorf("event %d is older than the one before: %+v, %+v", i, before, e)
		}
		before = e
	}
	last := got[len(got)-1]
	want := api.StudyEvent{StudyID: study, Status: "completed", Progress: api.StudyProgress{Completed: points}}
	if diff := cmp.Diff(want, last.Data); diff != "" {
		t.Errorf("the last event (-want +got):\n%s", diff)
	}
	var shown api.Study
	user.Get(studies + "/" + study).Want(200).Into(&shown)
	if diff := cmp.Diff(shown.Progress, last.Data.Progress); diff != "" || shown.Status != last.Data.Status {
		t.Errorf("the last event and GET, which has %s (-GET +event):\n%s", shown.Status, diff)
	}

	for _, reply := range []servicetest.Reply{
		user.Get(path, afterEvent(last.ID)), user.Get(fmt.Sprintf("%s?lastEventId=%d", path, last.ID)),
		user.Get(path+"?lastEventId=1", afterEvent(last.ID)),
	} {
		reply.Want(204)
	}
	final := []studyEvent{{ID: last.ID, Name: "status", Data: want}}
	for _, reply := range []servicetest.Reply{user.Get(path), user.Get(path, afterEvent(1)), user.Get(path, afterEvent(got[0].ID))} {
		if diff := cmp.Diff(final, wholeStudy(t, reply)); diff != "" && got[0].ID != last.ID {
			t.Errorf("after the study (-want +got):\n%s", diff)
		}
	}
	user.Do("HEAD", path, nil).Want(200)

	for _, bad := range []string{"x", "-1", "1.5"} {
		user.Get(path+"?lastEventId="+bad).Refused(400, "VALIDATION_ERROR")
	}
	p.Bearer(t, "").Get(path).Refused(401, "UNAUTHORIZED")
	p.User(t, servicetest.NewAccount()).Get(path).Refused(404, "NOT_FOUND")
	user.Get(studies+"/"+events.NewID(events.StudyPrefix)+"/events").Refused(404, "NOT_FOUND")
	user.Delete(studies + "/" + study).Want(200)
	user.Get(path).Refused(404, "NOT_FOUND")
}

// TestFollowATerminatedStudy: the termination of a study ends its stream. After a
// resumption a client that has the last event gets the next ones.
func TestFollowATerminatedStudy(t *testing.T) {
	t.Parallel()
	const points = 4
	p := servicetest.Shared(t)
	account := funded(t, p)
	user := p.User(t, account)
	p.SetQuota(t, account, commands.QuotaRunning, 0) // its runs do not start
	study := studies + "/" + user.Post(studies, messageSizes(points)).Want(201).Object()["id"].(string)
	path := study + "/events"

	stream := user.Open(path)
	defer stream.Body.Close()
	body := bufio.NewReader(stream.Body) // one for both parts, because it reads ahead
	all := readStudy(t, body, func(e studyEvent) bool { return e.Data.Progress.Unfinished == points })
	if all[0].Name != "status" || all[len(all)-1].Data.Status != "running" {
		t.Errorf("the events of the running study are %+v", all)
	}
	user.Post(study+"/terminate", nil).Want(http.StatusOK)
	all = readStudy(t, body, nil)
	if len(all) == 0 {
		t.Fatal("the stream ended without an event of the termination")
	}
	last := all[len(all)-1]
	want := api.StudyEvent{StudyID: last.Data.StudyID, Status: "terminated", Reason: "request", Progress: api.StudyProgress{Waiting: points}}
	if diff := cmp.Diff(want, last.Data); diff != "" || all[0].Name != "status" {
		t.Errorf("the stream ends with %+v (-want +got):\n%s", all, diff)
	}
	user.Get(path, afterEvent(last.ID)).Want(204)

	p.SetQuota(t, account, commands.QuotaRunning, 8)
	user.Post(study+"/resume", nil).Want(http.StatusOK)
	all = wholeStudy(t, user.Get(path, afterEvent(last.ID)))
	want = api.StudyEvent{StudyID: last.Data.StudyID, Status: "completed", Progress: api.StudyProgress{Completed: points}}
	if diff := cmp.Diff(want, all[len(all)-1].Data); diff != "" || all[0].Name != "status" {
		t.Errorf("the resumed study ends with %+v (-want +got):\n%s", all, diff)
	}
}

// followedStudies are studies, with the API that streams their events.
type followedStudies struct {
	*followed
	ctx context.Context
}

func newFollowedStudies(t *testing.T) *followedStudies {
	t.Helper()
	f := newFollowed(t)
	f.api.StudyFollowers = &readapi.Followers{DB: f.DB, Log: f.Logger, Changes: f.api.Followers.Changes, Studies: true}
	return &followedStudies{f, auth.WithCaller(t.Context(), auth.Caller{UserID: "u", AccountID: testworld.Account, AllWorkspaces: true})}
}

// start starts a study of two points in a workspace of its own, and follows it.
func (f *followedStudies) start(t *testing.T) (workspace, study string, stream *bufio.Reader) {
	t.Helper()
	workspace, study = events.NewID(events.WorkspacePrefix), events.NewID(events.StudyPrefix)
	testworld.Do(t, f.World, workspace, commands.CreateWorkspace{AccountID: testworld.Account, Name: study})
	testworld.Do(t, f.World, study, commands.StartStudy{Started: events.StudyStarted{
		AccountID: testworld.Account, WorkspaceID: workspace, Name: "s", Kind: commands.StudyOfSimple, Base: "{}", Method: "list", Points: 2,
	}})
	reply, err := f.api.FollowStudy(f.ctx, api.FollowStudyRequestObject{StudyID: study})
	if err != nil {
		t.Fatal(err)
	}
	body := reply.(api.FollowStudy200TextEventStreamResponse).Body.(io.ReadCloser)
	t.Cleanup(func() { body.Close() })
	return workspace, study, bufio.NewReader(body)
}

// TestFollowStudyUntilItsRunsHaveEnded: the stream of a terminated study goes on while a
// run of it is unfinished.
func TestFollowStudyUntilItsRunsHaveEnded(t *testing.T) {
	t.Parallel()
	f := newFollowedStudies(t)
	testworld.Running(t, f.api.StudyFollowers.Run)
	workspace, study, stream := f.start(t)
	next := func(name, status string, want api.StudyProgress) {
		t.Helper()
		got := readStudy(t, stream, func(studyEvent) bool { return true })
		if len(got) != 1 || got[0].Name != name || string(got[0].Data.Status) != status || got[0].Data.Progress != want {
			t.Fatalf("got %+v, want %s, %s with %+v", got, name, status, want)
		}
	}
	next("status", "running", api.StudyProgress{Waiting: 2})
	run := events.NewID(events.SimulationPrefix)
	testworld.Do(t, f.World, run, commands.RequestSimulation{Requested: events.SimulationRequested{
		Origin: commands.OriginSimple, AccountID: testworld.Account, WorkspaceID: workspace, ConfigurationID: events.NewID(events.ConfigurationPrefix),
		ConfigurationVersion: 1, Name: "run", DurationNs: 1e9, Study: events.StudyPoint{ID: study, InputHash: "h"},
	}})
	next("progress", "running", api.StudyProgress{Waiting: 1, Unfinished: 1})
	testworld.Do(t, f.World, study, commands.TerminateStudy{ID: study, Reason: "request"})
	next("status", "terminated", api.StudyProgress{Waiting: 1, Unfinished: 1})
	testworld.Do(t, f.World, run, commands.DeleteSimulation{ID: run, Reason: "study"})
	next("progress", "terminated", api.StudyProgress{Waiting: 2})
	if rest := readStudy(t, stream, nil); len(rest) > 0 {
		t.Errorf("after the final event the stream has %+v, want its end", rest)
	}
}

// TestFollowStudyEnds: a stream ends when the study's workspace is deleted and when the
// service ends. No follower remains.
func TestFollowStudyEnds(t *testing.T) {
	t.Parallel()
	f := newFollowedStudies(t)
	running, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.api.StudyFollowers.Run(running) }()
	workspace, study, stream := f.start(t)
	for line := ""; line != ":\n"; { // a heartbeat
		var err error
		if line, err = stream.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	testworld.Do(t, f.World, study, commands.AdvanceStudy{Advanced: events.StudyAdvanced{To: 1, Shared: []events.SharedPoint{{SimulationID: f.id}}}})
	want := api.StudyProgress{Waiting: 1, Shared: 1}
	got := readStudy(t, stream, func(studyEvent) bool { return true })
	if len(got) != 1 || got[0].Name != "progress" || got[0].Data.Progress != want {
		t.Errorf("after a point took a result: %+v, want progress %+v", got, want)
	}
	testworld.Do(t, f.World, workspace, commands.DeleteWorkspace{ID: workspace})
	if rest := readStudy(t, stream, nil); len(rest) > 0 {
		t.Errorf("the stream of a deleted workspace has %+v, want its end", rest)
	}
	if n := f.api.StudyFollowers.Open(); n != 0 {
		t.Errorf("got %d followers of a deleted study, want 0", n)
	}

	_, other, last := f.start(t)
	end()
	if err := testwait.Receive(t, ended, "the feed to end"); err != nil {
		t.Error(err)
	}
	if got := readStudy(t, last, nil); len(got) != 1 {
		t.Errorf("got %+v from the service that ended, want the first event", got)
	}
	if _, err := f.api.FollowStudy(f.ctx, api.FollowStudyRequestObject{StudyID: other}); !fault.Is(err, fault.Unavailable) {
		t.Error("a stream began after the service ended, want Unavailable")
	}
}

// TestFollowStudyIsBounded: the number of streams is limited, and a stream ends at its
// maximum age.
func TestFollowStudyIsBounded(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.MaxStreams, c.StreamLife = 1, time.Hour })
	account := funded(t, p)
	user := p.User(t, account)
	p.SetQuota(t, account, commands.QuotaRunning, 0)
	path := studies + "/" + user.Post(studies, messageSizes(2)).Want(201).Object()["id"].(string) + "/events"
	open := begun(t, user, path)
	if reply := user.Get(path); reply.Refused(429, "RATE_LIMITED") == "" || reply.Header.Get("Retry-After") == "" {
		t.Errorf("got the header %v, want Retry-After", reply.Header)
	}
	open.Body.Close()

	short := begun(t, withStreams(t, p, 2*time.Second).User(t, account), path)
	defer short.Body.Close()
	first := readStudy(t, short.Body, nil)
	if len(first) == 0 || slices.ContainsFunc(first, func(e studyEvent) bool { return e.Data.Status != "running" }) {
		t.Errorf("got %+v from a stream that reached its maximum age, want events of the running study", first)
	}
}
