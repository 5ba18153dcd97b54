package faults_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

// TestAPowerCutHidesNothing: PostgreSQL crashes and loses its last commits, with rows of
// acknowledged writes. Until the rows are applied again, two processes answer reads with
// 503, so no read misses a write that was acknowledged before it.
//
// NETSIM_TEST_POWER_CUTS sets the number of crashes.
func TestAPowerCutHidesNothing(t *testing.T) {
	d := newDeployment(t)
	d.start()
	api := d.another("api")
	d.losesCommits()
	everyone := startWitnesses(t, d.url, api)
	crashes := []struct {
		name  string
		crash func(*powerCut)
	}{
		{"of PostgreSQL", func(at *powerCut) {
			d.postgres.Kill()
			at.cutLog()
			d.postgres.Restart()
		}},
		{"of its sessions", func(at *powerCut) { at.crashSessions(d.postgres.URL) }},
		{"of PostgreSQL and the process that projects", func(at *powerCut) {
			d.kill()
			d.postgres.Kill()
			at.cutLog()
			d.postgres.Restart()
			everyone.refused(api) // no process applies the lost rows again
			d.start()
		}},
	}
	for i := range kills(t, servicetest.Number(t, "NETSIM_TEST_POWER_CUTS", 3)) {
		everyone.progress(50)
		at := d.powerCutNow()
		everyone.progress(20)
		c := crashes[i%len(crashes)]
		c.crash(at)
		d.verifyLoss()
		everyone.progress(50)
		t.Logf("after a crash %s: %s", c.name, everyone)
	}
	everyone.stop()
	var parked, overwritten int
	d.query(`SELECT count(*) FROM readmodel.parked`, &parked)
	d.query(`SELECT max(sequence) - min(sequence) + 1 - count(*) FROM readmodel.billing_events`, &overwritten)
	if parked > 0 || overwritten > 0 {
		t.Errorf("%d facts are parked, %d billing events had an id that was taken", parked, overwritten)
	}
}

// witnesses create workspaces and rename one each. Through every process they read what
// any process has acknowledged.
type witnesses struct {
	*writers
	urls            []string
	reads, refusals atomic.Int64
	end             chan struct{}
	wg              sync.WaitGroup

	mu      sync.Mutex
	created []workspace
	renamed map[string]int // the number in the last acknowledged name, by id
}

type workspace struct {
	ID, Name  string
	CreatedAt time.Time
}

func startWitnesses(t *testing.T, urls ...string) *witnesses {
	w := &witnesses{urls: urls, end: make(chan struct{}), renamed: map[string]int{}}
	w.writers = &writers{t: t, token: teststack.Issuer(t).Token(devissuer.Options{Service: true, User: "writer"})}
	for i, url := range urls {
		for n := range 4 {
			w.wg.Go(func() { w.write(url, 4*i+n) })
		}
		w.wg.Go(func() { w.read(url) })
	}
	t.Cleanup(w.stop)
	return w
}

func (w *witnesses) String() string {
	return fmt.Sprintf("%d writes, %d reads, %d refused", w.acks.Load(), w.reads.Load(), w.refusals.Load())
}

func (w *witnesses) stop() {
	select {
	case <-w.end:
	default:
		close(w.end)
		testwait.Group(w.t, &w.wg, "the clients")
	}
}

func (w *witnesses) ended() bool {
	select {
	case <-w.end:
		return true
	default:
		return false
	}
}

// write creates workspaces, and after each renames the first.
func (w *witnesses) write(url string, n int) {
	own := ""
	for i := 0; !w.ended(); i++ {
		var made workspace
		if w.call("POST", url+"/api/v1/workspaces", fmt.Sprintf(`{"name":"%d of %d"}`, i, n), &made) != http.StatusCreated {
			continue
		}
		w.acks.Add(1)
		w.mu.Lock()
		w.created = append(w.created, made)
		w.mu.Unlock()
		if own == "" {
			own = made.ID
		}
		if w.call("PATCH", url+"/api/v1/workspaces/"+own, fmt.Sprintf(`{"name":"%d"}`, i), &made) == http.StatusOK {
			w.mu.Lock()
			w.renamed[own] = i
			w.mu.Unlock()
		}
	}
}

// read repeatedly reads a workspace that was just created, the list, and a workspace
// that was renamed.
func (w *witnesses) read(url string) {
	for !w.ended() {
		w.mu.Lock()
		created := w.created[max(0, len(w.created)-20):]
		renamed, number := "", 0
		for renamed, number = range w.renamed {
			break
		}
		w.mu.Unlock()
		if renamed == "" {
			continue // nothing is acknowledged yet
		}
		w.find(url, created[rand.IntN(len(created))])
		w.list(url, created)
		var found workspace
		if w.get(url+"/api/v1/workspaces/"+renamed, &found) {
			var at int
			if _, err := fmt.Sscan(found.Name, &at); err != nil || at < number || strings.Contains(found.Name, "of") {
				w.t.Errorf("%s is named %q after it was renamed to %d", renamed, found.Name, number)
			}
		}
	}
}

func (w *witnesses) find(url string, created workspace) {
	var found workspace
	if w.get(url+"/api/v1/workspaces/"+created.ID, &found) && found.ID != created.ID {
		w.t.Errorf("%s is found as %s", created.ID, found.ID)
	}
}

// list reads the first page of the workspaces since the oldest in created, and checks that
// none in created is missing.
func (w *witnesses) list(at string, created []workspace) {
	var page struct{ Workspaces []workspace }
	first := slices.MinFunc(created, func(a, b workspace) int { return a.CreatedAt.Compare(b.CreatedAt) })
	query := url.Values{"limit": {"100"}, "createdAfter": {first.CreatedAt.Format(time.RFC3339Nano)}}
	if !w.get(at+"/api/v1/workspaces?"+query.Encode(), &page) {
		return
	}
	there := map[string]bool{}
	for _, found := range page.Workspaces {
		there[found.ID] = true
	}
	for _, one := range created {
		if last := len(page.Workspaces) - 1; !there[one.ID] && (last < 99 || one.CreatedAt.After(page.Workspaces[last].CreatedAt)) {
			w.t.Errorf("a list misses %s, which was acknowledged", one.ID)
		}
	}
}

// get reports whether a GET succeeded. It fails the test unless the response is 200 or 503
// or there is none.
func (w *witnesses) get(url string, into any) bool {
	switch status := w.call("GET", url, "", into); status {
	case http.StatusOK:
		w.reads.Add(1)
		return true
	case 0:
	case http.StatusServiceUnavailable:
		w.refusals.Add(1)
	default:
		w.t.Errorf("GET %s, of what was acknowledged: %d", url, status)
	}
	return false
}

// call returns the status of the response, or 0 without one.
func (w *witnesses) call(method, url, body string, into any) int {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		w.t.Error(err)
		return 0
	}
	req.Header.Set("Authorization", "Bearer "+w.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0
	}
	if resp.StatusCode < 300 {
		err = json.Unmarshal(answer, into)
	}
	if resp.StatusCode == http.StatusServiceUnavailable && (resp.Header.Get("Retry-After") == "" || !strings.Contains(string(answer), `"error":{"code":`)) {
		w.t.Errorf("%s %s is refused by %v %s", method, url, resp.Header, answer)
	}
	if err != nil {
		w.t.Errorf("%s %s: %v", method, url, err)
	}
	return resp.StatusCode
}

// refused checks that the process refuses every read with 503.
func (w *witnesses) refused(url string) {
	w.t.Helper()
	w.mu.Lock()
	last := w.created[len(w.created)-1]
	w.mu.Unlock()
	for _, path := range []string{"/api/v1/workspaces/" + last.ID, "/api/v1/workspaces"} {
		if status := w.call("GET", url+path, "", &struct{}{}); status != http.StatusServiceUnavailable {
			w.t.Errorf("GET %s while nothing projects: %d", path, status)
		}
	}
}
