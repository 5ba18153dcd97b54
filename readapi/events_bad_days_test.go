package readapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/cmd/settings"
	"netsim/events"
	"netsim/infra/auth"
	"netsim/infra/devissuer"
	"netsim/infra/web"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// TestEventsShowWhatTheCallerMaySee: a feed has the events of the workspaces that the
// token names, and of billing only for a service token or the role billing. Another
// account's has none of them; a service token for every account sees all, with checkpoints
// and seals.
func TestEventsShowWhatTheCallerMaySee(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.StreamLife = time.Hour })
	account, other := servicetest.NewAccount(), servicetest.NewAccount()
	owner := p.Service(t, account)
	one, two := newWorkspace(t, owner, "one"), newWorkspace(t, owner, "two")
	foreign := newWorkspace(t, p.Service(t, other), "foreign")
	p.Grant(t, account, "1000") // an event of billing
	owner.Delete(workspaces + "/" + one).Want(202)
	newest := newWorkspace(t, owner, "newest")
	since := "?since=2026-01-01T00:00:00Z"
	for name, tt := range map[string]struct {
		client *servicetest.Client
		sees   []string
	}{
		"user":     {p.User(t, account), []string{one, two, newest}},
		"member":   {p.User(t, account, one, foreign), []string{one}},
		"service":  {owner, []string{one, two, newest, account}},
		"biller":   {p.Person(t, account, "billing"), []string{one, two, newest, account}},
		"operator": {p.Person(t, account, "operator"), []string{one, two, newest}},
		"other":    {p.User(t, other), []string{foreign}},
		"platform": {p.Client(t, devissuer.Options{Service: true, User: "operator", Account: auth.AllAccounts}), []string{one, two, newest, foreign, account, "seal"}},
	} {
		seen := map[string]bool{}
		f := followEvents(t, tt.client, since)
		for missing := true; missing; {
			subject := f.next().Subject
			if strings.HasPrefix(subject, "seal_") {
				subject = "seal"
			}
			seen[subject] = true
			missing = false
			for _, stream := range tt.sees {
				missing = missing || !seen[stream]
			}
		}
		last := newWorkspace(t, owner, "last of "+name) // everything before it is sent
		if name != "member" && name != "other" {
			for f.next().Subject != last {
			}
		}
		for stream := range seen {
			known := false
			for _, may := range tt.sees {
				known = known || may == stream
			}
			if !known && name != "platform" && !strings.HasPrefix(stream, "platform_") && !isLater(stream, newest) {
				t.Errorf("%s sees %s", name, stream)
			}
		}
		f.close()
	}
}

// isLater reports whether a workspace was made after another.
func isLater(id, than string) bool { return strings.HasPrefix(id, "workspace_") && id > than }

// TestEventsEndWithTheToken: within a heartbeat after its token is no longer accepted, a
// feed ends with the reason and a position, from which another token resumes.
func TestEventsEndWithTheToken(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.FeedHeartbeat, c.StreamLife = 200*time.Millisecond, time.Hour })
	account := servicetest.NewAccount()
	const skew = 30 * time.Second // of infra/auth
	// On a busy machine a token can expire before its request is read. Then one that lives
	// longer is tried.
	var short *servicetest.Client
	var f *follower
	for life := 2 * time.Second; f == nil; life *= 2 {
		short = p.Client(t, devissuer.Options{User: "tester", Account: account, TTL: life - skew})
		switch resp := short.Open(eventsPath); {
		case resp.StatusCode == http.StatusOK:
			f = follow(t, resp)
		case resp.StatusCode != http.StatusUnauthorized || life > time.Minute:
			t.Fatalf("a token of %s: %s", life, resp.Status)
		default:
			resp.Body.Close()
		}
	}
	var last sent
	for last = f.any(); last.Reason == ""; last = f.any() {
		if last.Position == "" {
			t.Errorf("got %+v, want a position", last)
		}
	}
	if last.Reason != "unauthorized" || last.Position == "" {
		t.Errorf("the feed ended with %+v, want unauthorized and a position", last)
	}
	short.Get(eventsPath).Refused(401, "UNAUTHORIZED")
	id := newWorkspace(t, p.Service(t, account), "later")
	resumed := followEvents(t, p.User(t, account), "", header("Last-Event-ID", last.Position))
	if got := resumed.next(); got.Subject != id {
		t.Errorf("resumed with %v, want %s", got, id)
	}
}

// TestASlowReaderIsDisconnected: a client that stops reading its connection costs a
// bounded queue and is disconnected. From its last whole position it gets the rest, and
// a client that reads is not delayed by it.
func TestASlowReaderIsDisconnected(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.FeedBuffer, c.StreamLife = 256<<10, time.Hour })
	account := servicetest.NewAccount()
	owner := p.Service(t, account)
	user := p.User(t, account)
	slow := notReading(t, p, teststack.Issuer(t).Token(devissuer.Options{User: "tester", Account: account}))
	fast := patient{follower: followEvents(t, user, ""), user: user}
	testworld.Await(t, func() bool { return strings.Contains(servicetest.Scrape(t, p.Ops), "netsim_feed_clients 2") }) // each has its first position
	fast.any()
	var want []string
	long := strings.Repeat("x", 2000)
	ended := func() bool { // for the client that does not read
		feeds := 0
		for line := range strings.Lines(servicetest.Scrape(t, p.Ops)) {
			for _, reason := range []string{"slow", "gone"} {
				n := 0
				if _, err := fmt.Sscanf(line, `netsim_feed_ended_total{reason="`+reason+`"} %d`, &n); err == nil {
					feeds += n
				}
			}
		}
		return feeds > fast.resumed
	}
	for n := 0; n < 80 && !ended(); n++ { // up to 10 MB, more than the buffers of a connection; 50 are less than a queue
		ids := make([]string, 50)
		var writers sync.WaitGroup
		for i := range ids {
			writers.Go(func() {
				reply := owner.PostOnce(workspaces, object{"name": fmt.Sprint(n, " ", i), "description": long}, fmt.Sprintf("%d-%d", n, i))
				ids[i], _ = reply.Object()["id"].(string)
			})
		}
		testwait.Group(t, &writers, "the writers")
		if slices.Contains(ids, "") {
			t.Fatalf("not all workspaces were created: %q", ids)
		}
		want = append(want, ids...)
		if diff := cmp.Diff(want[len(want)-50:], subjects(fast.take(50)), sorted()); diff != "" {
			t.Fatalf("the client that reads (-want +got):\n%s", diff)
		}
	}
	var got []sent
	testworld.Await(t, ended)
	resp, err := http.ReadResponse(bufio.NewReader(slow), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body := bufio.NewReader(resp.Body)
	if _, err := body.Peek(body.Size()); err != nil { // the first messages, however long that takes
		t.Fatal(err)
	}
	// What the connection holds comes slowly through its small window; some of it is enough.
	if err := slow.SetReadDeadline(time.Now().Add(2 * time.Second)); err != nil {
		t.Fatal(err)
	}
	resp.Body = io.NopCloser(body)
	reader := &follower{t: t, resp: resp, got: make(chan sent, 100_000)}
	reader.read(true)
	position := ""
	for one := range reader.got {
		if position = one.Position; one.Type != "" {
			got = append(got, one)
		}
	}
	if len(got) >= len(want) {
		t.Fatalf("the slow client got all %d events", len(got))
	}
	t.Logf("the slow client got %d events, and the position %q", len(got), position)
	rest := patient{follower: followEvents(t, user, "", header("Last-Event-ID", position)), user: user, position: position}
	got = append(got, rest.take(len(want)-len(got))...)
	if diff := cmp.Diff(want, subjects(got), sorted()); diff != "" {
		t.Errorf("the slow client and the resumed one (-want +got):\n%s", diff)
	}
}

// patient follows a feed, and resumes it when a busy machine makes it a slow one.
type patient struct {
	*follower

	user     *servicetest.Client
	position string
	resumed  int // times
}

// take returns the next facts.
func (p *patient) take(count int) (all []sent) {
	p.t.Helper()
	for len(all) < count {
		one := p.next()
		p.position = one.Position
		switch one.Reason {
		case "":
			all = append(all, one)
		case "slow":
			if p.resumed++; p.resumed == 20 {
				p.t.Fatalf("%d of %d events after %d feeds", len(all), count, p.resumed)
			}
			p.close()
			p.follower = followEvents(p.t, p.user, "", header("Last-Event-ID", p.position))
		default:
			p.t.Fatalf("a feed ended with %q after %d of %d events", one.Reason, len(all), count)
		}
	}
	return all
}

// notReading opens a feed on a connection with a small receive buffer, which the caller
// reads.
func notReading(t *testing.T, p *servicetest.Program, token string) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	tcp := conn.(*net.TCPConn)
	if err := tcp.SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: netsim\r\nAuthorization: Bearer %s\r\n\r\n", eventsPath, token); err != nil {
		t.Fatal(err)
	}
	return tcp
}

// TestClientsThatVanishLeaveNothing: connections that are reset end their feeds, and
// the account's streams become free again.
func TestClientsThatVanishLeaveNothing(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.FeedHeartbeat, c.StreamLife = 100*time.Millisecond, time.Hour })
	account := servicetest.NewAccount()
	p.SetQuota(t, account, web.QuotaStreams, 5)
	user := p.User(t, account)
	testworld.Await(t, func() bool { return user.Get(workspaces).Status == 200 })
	for range 3 {
		var open []*http.Response
		for range 5 {
			testworld.Await(t, func() bool {
				resp := user.Open(eventsPath)
				if resp.StatusCode != 200 {
					resp.Body.Close()
					return false
				}
				open = append(open, resp)
				return true
			})
		}
		user.Get(eventsPath).Refused(429, "RATE_LIMITED")
		for _, resp := range open {
			if c, ok := resp.Body.(interface{ Conn() net.Conn }); ok {
				c.Conn().Close()
			}
			resp.Body.Close()
		}
	}
}

// TestFeedsAreBounded: above the number of streams of a process there is 503 for another
// account, and a feed ends at its maximum age with its position.
func TestFeedsAreBounded(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.MaxStreams = 1 })
	user := p.User(t, servicetest.NewAccount())
	f := followEvents(t, user, "", header("Accept", "application/x-ndjson"))
	if r := p.User(t, servicetest.NewAccount()).Get(eventsPath); r.Refused(503, "SERVICE_UNAVAILABLE") == "" || r.Header.Get("Retry-After") == "" {
		t.Errorf("got the header %v, want Retry-After", r.Header)
	}
	user.Get(eventsPath).Refused(429, "RATE_LIMITED")
	f.close()

	short := withStreams(t, p, 2*time.Second).User(t, servicetest.NewAccount())
	f = follow(t, begun(t, short, eventsPath, header("Accept", "application/x-ndjson")))
	last := f.any()
	for last.Reason == "" {
		last = f.any()
	}
	if last.Reason != "lifetime" || last.Position == "" {
		t.Errorf("the feed ended with %+v, want lifetime and a position", last)
	}
	for range f.got { // the answer ends after its place among the streams is free
	}
	id := events.NewID(events.WorkspacePrefix)
	testworld.Await(t, func() bool {
		r := short.Get(eventsPath + "?workspace=" + id)
		if r.Status == http.StatusGatewayTimeout { // it has two seconds for this, too
			return false
		}
		r.Refused(404, "NOT_FOUND")
		return true
	})
}

// withStreams starts another process of the program that serves only the API, and whose
// streams end after that life.
func withStreams(t *testing.T, p *servicetest.Program, life time.Duration) *servicetest.Program {
	t.Helper()
	return servicetest.Start(t, func(c *settings.Config) {
		*c = p.Config
		c.Roles, c.StreamLife = []string{settings.RoleAPI}, life
	})
}

// begun opens a stream. On a busy machine a short-lived one can end before it begins; then
// the next one is opened.
func begun(t *testing.T, c *servicetest.Client, path string, h ...servicetest.Header) (resp *http.Response) {
	t.Helper()
	testworld.Await(t, func() bool {
		resp = c.Open(path, h...)
		if resp.StatusCode == http.StatusGatewayTimeout {
			resp.Body.Close()
			return false
		}
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", path, resp.Status)
		}
		return true
	})
	return resp
}

func subjects(all []sent) (subjects []string) {
	for _, one := range all {
		subjects = append(subjects, one.Subject)
	}
	return subjects
}

// sorted compares lists of different streams without their order.
func sorted() cmp.Option {
	return cmp.Transformer("sorted", func(all []string) map[string]int {
		counts := map[string]int{}
		for _, one := range all {
			counts[one]++
		}
		return counts
	})
}
