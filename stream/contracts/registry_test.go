package contracts_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/api"
	"netsim/internal/testwait"
	"netsim/stream/contracts"
)

// registryURL returns the address of a schema registry: the one that
// NETSIM_TEST_REGISTRY names, as .ci/registry/run sets it, or a stand-in for it.
func registryURL(t *testing.T) string {
	t.Helper()
	if named := os.Getenv("NETSIM_TEST_REGISTRY"); named != "" {
		return named
	}
	server := httptest.NewServer(newStandIn())
	t.Cleanup(server.Close)
	return server.URL
}

// Every schema of the service gets an id, its subject one version and the
// compatibility. Another process that registers them gets the same ids.
func TestEverySchemaIsRegistered(t *testing.T) {
	t.Parallel()
	url := registryURL(t)
	var schemas []contracts.Schema
	for _, s := range api.Schemas() {
		schemas = append(schemas, contracts.Schema{Type: s.Type, Document: s.Document})
	}
	first, _ := run(t, contracts.Config{URL: url + "/", Schemas: schemas})
	second, _ := run(t, contracts.Config{URL: url, Schemas: schemas})
	seen := map[int32]bool{}
	for _, s := range schemas {
		id, ok := first.SchemaID(s.Type)
		again, _ := second.SchemaID(s.Type)
		if !ok || id < 1 || seen[id] || again != id {
			t.Errorf("%s has the id %d, %t, and %d in another process", s.Type, id, ok, again)
		}
		seen[id] = true
		var stored struct{ Schema, SchemaType string }
		get(t, fmt.Sprintf("%s/schemas/ids/%d", url, id), &stored)
		if stored.SchemaType != "JSON" || cmp.Diff(generic(t, s.Document), generic(t, []byte(stored.Schema))) != "" {
			t.Errorf("%s is stored as %s %s", s.Type, stored.SchemaType, stored.Schema)
		}
		var versions []int
		get(t, url+"/subjects/"+s.Type+"/versions", &versions)
		if len(versions) != 1 {
			t.Errorf("%s has the versions %v", s.Type, versions)
		}
		if level := compatibility(t, url, s.Type); level != "FORWARD_TRANSITIVE" {
			t.Errorf("%s has the compatibility %q", s.Type, level)
		}
	}
	if _, ok := first.SchemaID("netsim.workspace.painted.v1"); ok {
		t.Error("an unknown type has an id")
	}
	if registered, of, err := first.State(); registered != len(schemas) || of != len(schemas) || err != nil {
		t.Errorf("state: %d of %d, %v", registered, of, err)
	}
}

// A schema may gain an optional member. It may not change or lose one; the registry
// refuses that, the refusal is logged once, and the other schemas are registered.
func TestOnlyCompatibleSchemasAreRegistered(t *testing.T) {
	t.Parallel()
	url := registryURL(t)
	name := strings.ToLower(t.Name())
	grown, changed, lost, other := name+".grown", name+".changed", name+".lost", name+".other"
	const old = `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"]}`
	before, _ := run(t, contracts.Config{URL: url, Schemas: []contracts.Schema{
		{grown, []byte(old)}, {changed, []byte(old)}, {lost, []byte(old)},
	}})
	after, log := run(t, contracts.Config{URL: url, Schemas: []contracts.Schema{
		{changed, []byte(strings.Replace(old, "string", "integer", 1))},
		{lost, []byte(`{"type":"object","properties":{"b":{"type":"integer"}}}`)},
		{grown, []byte(strings.Replace(old, `"b":`, `"c":{"type":"boolean"},"b":`, 1))},
		{other, []byte(old)},
	}})
	for _, refused := range []string{changed, lost} {
		if id, ok := after.SchemaID(refused); ok {
			t.Errorf("%s has the id %d", refused, id)
		}
		if n := strings.Count(log.String(), "type="+refused+" "); n != 1 {
			t.Errorf("%d log lines about %s:\n%s", n, refused, log)
		}
	}
	earlier, _ := before.SchemaID(grown)
	if id, ok := after.SchemaID(grown); !ok || id == earlier {
		t.Errorf("the grown schema has the id %d, %t; before it was %d", id, ok, earlier)
	}
	if _, ok := after.SchemaID(other); !ok {
		t.Error("the schema after the refused ones is not registered")
	}
	_, _, err := after.State()
	if refused, ok := errors.AsType[*contracts.Refused](err); !ok || refused.Subject != changed {
		t.Errorf("state: %v", err)
	}
}

// The compatibility that an operator has chosen stays.
func TestOperatorsCompatibilityStays(t *testing.T) {
	t.Parallel()
	url := registryURL(t)
	name := strings.ToLower(t.Name())
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url+"/config/"+name, strings.NewReader(`{"compatibility":"FULL"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/vnd.schemaregistry.v1+json")
	response, err := http.DefaultClient.Do(request)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response, err)
	}
	response.Body.Close() //nolint:errcheck // it is not read
	run(t, contracts.Config{URL: url, Schemas: []contracts.Schema{{name, []byte(`{"type":"object"}`)}}})
	if level := compatibility(t, url, name); level != "FULL" {
		t.Errorf("the compatibility is %q", level)
	}
}

// While the registry fails, ids are unknown and nothing waits. It is logged once,
// counted for every round, and over when the registry works. An id that is known
// stays known when it fails again.
func TestTheRegistryMayFail(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	broken.Store(true)
	standIn := newStandIn()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() {
			http.Error(w, "the store of the registry is down", http.StatusInternalServerError)
			return
		}
		standIn.ServeHTTP(w, r)
	}))
	defer server.Close()
	r, log, rounds := start(t, contracts.Config{
		URL: server.URL, Retry: time.Millisecond, Recheck: time.Millisecond,
		Schemas: []contracts.Schema{{"a", []byte(`{"type":"object"}`)}},
	})
	for range 3 {
		if err := testwait.Receive(t, rounds, "a failed round"); err == nil {
			t.Error("a round of a broken registry succeeds")
		}
	}
	if _, ok := r.SchemaID("a"); ok {
		t.Error("an id while the registry fails")
	}
	if registered, of, err := r.State(); registered != 0 || of != 1 || err == nil || !strings.Contains(err.Error(), "500") {
		t.Errorf("state: %d of %d, %v", registered, of, err)
	}
	broken.Store(false)
	for testwait.Receive(t, rounds, "a complete round") != nil {
	}
	broken.Store(true)
	for testwait.Receive(t, rounds, "another failed round") == nil {
	}
	if _, ok := r.SchemaID("a"); !ok {
		t.Error("the known id is forgotten")
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], "cannot be used") || !strings.Contains(lines[1], "has every schema") || !strings.Contains(lines[2], "cannot be used") {
		t.Errorf("the log:\n%s", log)
	}
}

// A registry that lost its data gets the schemas again. A schema that it then refuses
// has no id any more.
func TestALostRegistryIsFilledAgain(t *testing.T) {
	t.Parallel()
	var standIn atomic.Pointer[standIn]
	standIn.Store(newStandIn())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { standIn.Load().ServeHTTP(w, r) }))
	defer server.Close()
	r, _, rounds := start(t, contracts.Config{
		URL: server.URL, Recheck: time.Millisecond,
		Schemas: []contracts.Schema{{"a", []byte(`{"type":"object"}`)}},
	})
	testwait.Receive(t, rounds, "the first round")
	fresh := newStandIn()
	fresh.next = 100
	standIn.Store(fresh)
	for range 2 { // one may have been under way
		if err := testwait.Receive(t, rounds, "a round with the empty registry"); err != nil {
			t.Error(err)
		}
	}
	if id, ok := r.SchemaID("a"); id != 101 {
		t.Errorf("the id is %d, %t", id, ok)
	}

	other := newStandIn() // has another schema of the type, so the id would be wrong
	other.texts[`{"type":"object","properties":{"b":{"type":"string"}}}`] = 1
	other.subjects["a"], other.levels["a"] = []int{1}, "FORWARD_TRANSITIVE"
	standIn.Store(other)
	for range 2 {
		testwait.Receive(t, rounds, "a round with another registry")
	}
	if id, ok := r.SchemaID("a"); ok {
		t.Errorf("a refused schema has the id %d", id)
	}
}

// Credentials go to the registry only, and to no server that it redirects to.
func TestCredentials(t *testing.T) {
	t.Parallel()
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	var redirect atomic.Bool
	standIn := newStandIn()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, secret, _ := r.BasicAuth()
		if (user != "netsim" || secret != "s3cret") && r.Header.Get("Authorization") != "Bearer s3cret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if redirect.Load() {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
			return
		}
		standIn.ServeHTTP(w, r)
	}))
	defer server.Close()
	schemas := []contracts.Schema{{"a", []byte(`{"type":"object"}`)}}
	for _, user := range []string{"netsim", ""} {
		r, _ := run(t, contracts.Config{URL: server.URL, User: user, Secret: "s3cret", Schemas: schemas})
		if _, ok := r.SchemaID("a"); !ok {
			t.Errorf("the schema is not registered by the user %q", user)
		}
	}
	redirect.Store(true)
	for _, c := range []contracts.Config{
		{URL: server.URL, User: "netsim", Secret: "s3cret", Schemas: schemas},
		{URL: server.URL, User: "netsim", Secret: "wrong", Schemas: schemas},
	} {
		r, log := run(t, c)
		if _, ok := r.SchemaID("a"); ok || elsewhere.Load() > 0 || strings.Contains(log.String(), c.Secret) {
			t.Errorf("registered %t, %d requests elsewhere, log %s", ok, elsewhere.Load(), log)
		}
	}
	for _, wrong := range []string{"", "registry:8081", "ftp://registry", "http://user:secret@registry"} {
		if _, err := contracts.New(contracts.Config{URL: wrong}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("New with the address %q: %v", wrong, err)
		}
	}
}

func TestNoRegistryKnowsNoID(t *testing.T) {
	t.Parallel()
	if id, ok := (*contracts.Registry)(nil).SchemaID("netsim.workspace.created.v1"); ok {
		t.Errorf("id %d", id)
	}
}

// run starts a registry and waits until its first two rounds have ended.
func run(t *testing.T, c contracts.Config) (*contracts.Registry, fmt.Stringer) {
	t.Helper()
	c.Retry, c.Recheck = time.Millisecond, time.Millisecond
	r, log, rounds := start(t, c)
	testwait.Receive(t, rounds, "the first round")
	testwait.Receive(t, rounds, "the second round")
	return r, log
}

// start runs a registry until the test ends. It makes its next round when the test
// receives the result of the one before.
func start(t *testing.T, c contracts.Config) (*contracts.Registry, fmt.Stringer, <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	log, rounds := &safeBuffer{}, make(chan error)
	c.Log = slog.New(slog.NewTextHandler(log, nil))
	c.Round = func(err error) {
		select {
		case rounds <- err:
		case <-ctx.Done():
		}
	}
	r, err := contracts.New(c)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := testwait.Receive(t, done, "Run to return"); !errors.Is(err, context.Canceled) {
			t.Errorf("Run: %v", err)
		}
	})
	return r, log, rounds
}

func compatibility(t *testing.T, url, subject string) string {
	t.Helper()
	var config struct{ CompatibilityLevel string }
	get(t, url+"/config/"+subject, &config)
	return config.CompatibilityLevel
}

func get(t *testing.T, url string, answer any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", url, response.StatusCode, err)
	}
}

func generic(t *testing.T, text []byte) (v any) {
	t.Helper()
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}
