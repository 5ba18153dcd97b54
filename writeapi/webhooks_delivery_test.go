package writeapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"netsim/internal/servicetest"
	"netsim/internal/testworld"
)

// receiver is a receiver of webhooks that keeps what it got.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	got    []delivery
}

type delivery struct {
	header http.Header
	body   string
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{status: 204}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		if err == nil {
			r.got = append(r.got, delivery{req.Header, string(body)})
		}
		w.WriteHeader(r.status)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) answer(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

func (r *receiver) all() []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// TestWebhooksAreDelivered: the feed's events arrive, signed, in the order of their stream,
// from the creation of the webhook on, unless it is paused; and again after a replay.
func TestWebhooksAreDelivered(t *testing.T) {
	t.Parallel()
	p, account := servicetest.Shared(t), servicetest.NewAccount()
	service, r := p.Service(t, account), newReceiver(t)
	made := service.Post(workspaces, map[string]any{"name": "before"}).Want(201).Object()
	workspace := made["id"].(string)
	id, secret := newWebhook(service, map[string]any{"url": r.URL, "filter": map[string]any{"stream": workspace}})
	path := webhooks + "/" + id
	rename := func(name string) { service.Patch(workspaces+"/"+workspace, map[string]any{"name": name}).Want(200) }
	names := func() (all []string) {
		for _, d := range r.all() {
			for _, name := range []string{"before", "one", "two", "three", "four"} {
				if strings.Contains(d.body, fmt.Sprintf(`"name":%q`, name)) {
					all = append(all, name)
				}
			}
		}
		return all
	}
	await := func(want ...string) {
		t.Helper()
		testworld.Await(t, func() bool { return len(names()) >= len(want) })
		if diff := cmp.Diff(want, names()); diff != "" {
			t.Fatalf("deliveries (-want +got):\n%s", diff)
		}
	}
	rename("one")
	rename("two")
	await("one", "two")
	wh, err := standard.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range r.all() {
		if err := wh.Verify([]byte(d.body), d.header); err != nil {
			t.Errorf("%s does not verify: %v", d.body, err)
		}
	}
	paused := service.Post(path+"/pause", nil).Want(200).Object()
	if paused["state"] != "paused" || paused["stoppedAt"] == nil {
		t.Errorf("got %v, want a paused webhook", paused)
	}
	rename("three")
	service.Post(path+"/pause", nil).Want(200)
	service.Post(path+"/resume", nil).Want(200)
	rename("four")
	await("one", "two", "three", "four")
	if replayed := service.Post(path+"/replay", map[string]any{"since": made["createdAt"]}).Want(200).Object(); replayed["replayedFrom"] != made["createdAt"] {
		t.Errorf("got %v, want it to say since when it is replayed", replayed)
	}
	await("one", "two", "three", "four", "before", "one", "two", "three", "four")
	page := service.Eventually(path+"/attempts?limit=5", func(r servicetest.Reply) bool {
		counts := r.Want(200).Object()["counts"].(map[string]any)
		return counts["delivered"] == 9.0 && counts["waiting"] == 0.0
	}).Object()
	newest := page["attempts"].([]any)[0].(map[string]any)
	if newest["stream"] != workspace || newest["outcome"] != "delivered" || newest["status"] != 204.0 || newest["attempt"] != 1.0 {
		t.Errorf("the newest attempt is %v", newest)
	}
	rest := service.Get(path + "/attempts?limit=5&next=" + page["pagination"].(map[string]any)["nextCursor"].(string)).Want(200).Object()
	if n := len(rest["attempts"].([]any)); n != 4 {
		t.Errorf("the second page has %d attempts, want 4", n)
	}
	service.Delete(path, key("d")).Want(200)
	service.Delete(path, key("d")).Want(200)
	service.Delete(path).Refused(404, "NOT_FOUND")
	for _, gone := range []string{path, path + "/attempts"} {
		service.Get(gone).Refused(404, "NOT_FOUND")
	}
}

// TestAWebhookIsReplayedFromAPositionOfTheFeed that has the webhook's filter, and from no
// other.
func TestAWebhookIsReplayedFromAPositionOfTheFeed(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	service, r := p.Service(t, servicetest.NewAccount()), newReceiver(t)
	workspace := newWorkspace(t, service, "before")
	position := func(query string) string {
		feed := service.Open("/api/v1/events?"+query, servicetest.Header{Name: "Accept", Value: "application/x-ndjson"})
		defer feed.Body.Close()
		var line struct{ Position string }
		if err := json.NewDecoder(feed.Body).Decode(&line); err != nil {
			t.Fatal(err)
		}
		return line.Position
	}
	at := position("workspace=" + workspace)
	service.Patch(workspaces+"/"+workspace, map[string]any{"name": "after"}).Want(200)
	id, _ := newWebhook(service, map[string]any{"url": r.URL, "filter": map[string]any{"workspace": workspace}})
	replay := webhooks + "/" + id + "/replay"
	service.Post(replay, map[string]any{"lastEventId": at}, key("k")).Want(200)
	service.Post(replay, map[string]any{"lastEventId": at}, key("k")).Want(200)
	testworld.Await(t, func() bool { return len(r.all()) > 0 })
	if got := r.all()[0].body; !strings.Contains(got, `"name":"after"`) {
		t.Errorf("the replay begins with %s, want what came after the position", got)
	}
	service.Post(replay, map[string]any{"lastEventId": position("family=workspaces")}).Refused(400, "VALIDATION_ERROR")
	service.Post(replay, map[string]any{"lastEventId": "AAAA"}).Refused(400, "VALIDATION_ERROR")
	service.Post(replay, map[string]any{}).Refused(400, "VALIDATION_ERROR")
	service.Post(replay, map[string]any{"lastEventId": at, "since": "2026-11-21T08:00:00Z"}).Refused(400, "VALIDATION_ERROR")
}

// TestTheLastAttemptSaysWhenTheNextIsDue, while its message waits.
func TestTheLastAttemptSaysWhenTheNextIsDue(t *testing.T) {
	t.Parallel()
	service, r := servicetest.Shared(t).Service(t, servicetest.NewAccount()), newReceiver(t)
	r.answer(http.StatusInternalServerError)
	made := service.Post(workspaces, map[string]any{"name": "w"}).Want(201).Object()
	stream := made["id"].(string)
	id, _ := newWebhook(service, map[string]any{"url": r.URL, "filter": map[string]any{"stream": stream}})
	path := webhooks + "/" + id
	service.Patch(workspaces+"/"+stream, map[string]any{"name": "x"}).Want(200)
	attempts := func(outcome string) []any {
		return service.Eventually(path+"/attempts", func(r servicetest.Reply) bool {
			all := r.Want(200).Object()["attempts"].([]any)
			return len(all) > 0 && all[0].(map[string]any)["outcome"] == outcome
		}).Object()["attempts"].([]any)
	}
	failed := attempts("failed")[0].(map[string]any)
	began, err := time.Parse(time.RFC3339, failed["startedAt"].(string))
	next, nextErr := time.Parse(time.RFC3339, fmt.Sprint(failed["nextAttemptAt"]))
	if err != nil || nextErr != nil || !next.After(began) {
		t.Errorf("got %v, want it to say when the next attempt is due", failed)
	}
	r.answer(http.StatusNoContent)
	service.Post(path+"/replay", map[string]any{"since": made["createdAt"]}).Want(200)
	for _, a := range attempts("delivered") {
		if a := a.(map[string]any); a["nextAttemptAt"] != nil {
			t.Errorf("got %v, whose message does not wait any more", a)
		}
	}
}

// TestAReceiverThatIsGoneDisablesItsWebhook, until it is resumed.
func TestAReceiverThatIsGoneDisablesItsWebhook(t *testing.T) {
	t.Parallel()
	service, r := servicetest.Shared(t).Service(t, servicetest.NewAccount()), newReceiver(t)
	r.answer(http.StatusGone)
	id, _ := newWebhook(service, map[string]any{"url": r.URL, "filter": map[string]any{"family": "workspaces"}})
	path := webhooks + "/" + id
	workspace := newWorkspace(t, service, "w")
	disabled := service.Eventually(path, func(r servicetest.Reply) bool { return r.Object()["state"] == "disabled" }).Object()
	if reason, _ := disabled["reason"].(string); !strings.Contains(reason, "410") || disabled["stoppedAt"] == nil {
		t.Errorf("got %v, want it to say why and since when it is disabled", disabled)
	}
	service.Post(path+"/pause", nil).Refused(409, "CONFLICT")
	before := len(r.all())
	r.answer(http.StatusOK)
	resumed := service.Post(path+"/resume", nil).Want(200).Object()
	if resumed["state"] != "active" || resumed["reason"] != nil || resumed["stoppedAt"] != nil {
		t.Errorf("got %v, want an active webhook", resumed)
	}
	testworld.Await(t, func() bool { return len(r.all()) > before })
	if got := r.all()[before].body; !strings.Contains(got, workspace) {
		t.Errorf("after the receiver came back it got %s, want the event that it refused", got)
	}
}

// TestRotateWebhookSecret: during the overlap both secrets verify, and without one the new
// alone. A test is signed as every message is.
func TestRotateWebhookSecret(t *testing.T) {
	t.Parallel()
	service, r := servicetest.Shared(t).Service(t, servicetest.NewAccount()), newReceiver(t)
	id, first := newWebhook(service, map[string]any{"url": r.URL, "filter": map[string]any{"type": []any{"netsim.study.deleted.v1"}}})
	path := webhooks + "/" + id
	rotate := func(body map[string]any, h ...servicetest.Header) map[string]any {
		return service.Post(path+"/rotate-secret", body, h...).Want(200).Object()
	}
	verifies := func(secrets ...string) (all []bool) {
		t.Helper()
		before := len(r.all())
		attempt := service.Post(path+"/test", nil).Want(200).Object()
		if attempt["outcome"] != "delivered" || attempt["attempt"] != 0.0 || len(r.all()) != before+1 {
			t.Fatalf("the test is %v, and %d messages came, want 1", attempt, len(r.all())-before)
		}
		got := r.all()[before]
		for _, secret := range secrets {
			wh, err := standard.NewWebhook(secret)
			all = append(all, err == nil && wh.Verify([]byte(got.body), got.header) == nil)
		}
		return all
	}
	rotated := rotate(map[string]any{}, key("k"))
	second := rotated["secret"].(string)
	ends, err := time.Parse(time.RFC3339, rotated["overlapEndsAt"].(string))
	if rest := time.Until(ends); err != nil || rest < 23*time.Hour || rest > 24*time.Hour || rotated["secretGeneration"] != 2.0 || second == first {
		t.Errorf("got %v, want another secret and an overlap of a day", rotated)
	}
	if again := rotate(map[string]any{}, key("k")); again["secret"] != second {
		t.Errorf("the repetition got %v, want the secret %s", again, second)
	}
	if diff := cmp.Diff([]bool{true, true}, verifies(first, second)); diff != "" {
		t.Errorf("during the overlap (-want +got):\n%s", diff)
	}
	third := rotate(map[string]any{"overlapSeconds": 0})["secret"].(string)
	if diff := cmp.Diff([]bool{false, false, true}, verifies(first, second, third)); diff != "" {
		t.Errorf("without an overlap (-want +got):\n%s", diff)
	}
	service.Post(path+"/rotate-secret", map[string]any{"overlapSeconds": 604801}).Refused(400, "VALIDATION_ERROR")
	service.Post(path+"/rotate-secret", map[string]any{"overlapSeconds": 1}, key("k")).Refused(422, "UNPROCESSABLE_ENTITY")
}
