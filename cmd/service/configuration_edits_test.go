package service_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/events"
	"netsim/internal/servicetest"
)

// editAccount is an account with the models, tracesets and mapping files that edits use.
type editAccount struct {
	user         *servicetest.Client
	models       map[string]object  // declarations by model id
	tracesets    map[string]string  // names of tracesets by id
	ranks        map[string]float64 // ranks of tracesets by id
	mappings     map[string]string  // names of mapping files by id
	mappingRanks map[string]float64 // ranks of mapping files by id
	start        *versionModel      // the first version of every configuration
}

func newEditAccount(t *testing.T) *editAccount {
	t.Helper()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	p.Grant(t, account, "1000")
	l := &editAccount{user: p.User(t, account), models: map[string]object{}, tracesets: map[string]string{}, ranks: map[string]float64{},
		mappings: map[string]string{}, mappingRanks: map[string]float64{}}
	for kind := range named() {
		for _, model := range models(kind) {
			l.models[model] = l.user.Get("/api/v1/models/" + model).Want(200).Object()
		}
	}
	for _, ranks := range []int{16, 8} {
		id := l.user.Post("/api/v1/simple/simulations", servicetest.SimpleSubmission(ranks)).Want(202).Object()["simulationId"].(string)
		of := l.user.Get("/api/v1/configurations/" + events.DerivedID(events.ConfigurationPrefix, id)).Want(200).Object()
		traceset := of["activeTraceset"].(object)
		l.tracesets[traceset["id"].(string)], l.ranks[traceset["id"].(string)] = traceset["name"].(string), float64(ranks)
		l.start = l.everything(of["globalParameters"], traceset["id"].(string))
	}
	l.uploadMappings(t, 8, 8, 16)
	return l
}

// everything returns a document with parts of every kind and a traceset, but without a
// mapping file.
func (l *editAccount) everything(globals any, traceset string) *versionModel {
	declared := func(model, name string, refs ...any) object {
		d := copyOf(l.models[model])
		d["name"] = name
		if refs != nil {
			d["components"] = array(refs)
		}
		return d
	}
	ref := func(kind, name string, count float64) object {
		return object{"name": name, "type": kind, "count": count, "model": models(kind)[0], "version": "1.0.0"}
	}
	work := ref("application", "work", 1)
	work["parentApplicationName"] = "gen"
	s := &versionModel{account: l, Name: "everything", Doc: object{
		"components": array{
			declared("clos-switch-v1", "leaf"), declared("roce-nic-v1", "nic"), declared("roce-nic-v1", "spare"), declared("gpu-v1", "gpu"),
			declared("gpu-server-v1", "server", ref("nic", "nic", 1), ref("gpu", "gpu", 2), work), declared("gpu-server-v1", "bare"),
		},
		"containers":   array{declared("leaf-rack-v1", "rack", ref("switch", "leaf", 1), ref("server", "server", 4)), declared("pod-v1", "pod")},
		"applications": array{declared("chakra-workload-v1", "work")}, "links": array{declared("ethernet-layer-v1", "layer")},
		"topology": object{"type": "clos", "topologyTiers": 1.0, "allowedComponents": array{"switch", "layer", "pod", "rack"},
			"components": array{ref("rack", "rack", 1)}},
		"globalParameters": globals,
	}}
	s.declare("traffic-generator-v1", "application", "gen")
	s.declare("traffic-generator-v1", "application", "idle") // gen has all the traffic
	s.attachTraceset(traceset)
	return s
}

// configuration is a configuration on the service, and its model.
type configuration struct {
	account  *editAccount
	path     string
	versions []*versionModel // by version
	status   []string        // by version
}

func (s *versionModel) clone() *versionModel { return &versionModel{s.account, s.Name, copyOf(s.Doc)} }

func (s *versionModel) equals(other *versionModel) bool {
	return s.Name == other.Name && reflect.DeepEqual(s.Doc, other.Doc)
}

func (l *editAccount) create(t *rapid.T) *configuration {
	body := maps.Clone(l.start.Doc)
	body["name"], body["activeTraceset"] = l.start.Name, without(body["activeTraceset"].(object), "name")
	r := l.user.Post("/api/v1/configurations", body)
	if r.Status != 201 {
		t.Fatalf("create: %d %s", r.Status, r.Body)
	}
	c := &configuration{l, r.Header.Get("Location"), []*versionModel{l.start}, []string{"draft"}}
	c.checkBody(t, "the new configuration", r, l.start.whole(1, "draft"))
	return c
}

func (c *configuration) newest() *versionModel { return c.versions[len(c.versions)-1] }
func (c *configuration) tag() string           { return strconv.Quote(strconv.Itoa(len(c.versions))) }

// checkBody compares a body with the model's, except for ids and times.
func (c *configuration) checkBody(t *rapid.T, what string, r servicetest.Reply, want any) {
	got := r.Object()
	for _, m := range []string{"createdAt", "modifiedAt", "workspaceId", "id"} {
		if _, whole := got["components"]; whole || got["topology"] != nil {
			delete(got, m)
		}
	}
	if diff := cmp.Diff(copyOf(want), any(got)); diff != "" {
		t.Fatalf("%s (-model +service):\n%s", what, diff)
	}
}

// condition draws an If-Match header, and returns whether the condition holds.
func (c *configuration) condition(t *rapid.T, row int) (header string, holds bool) {
	n := len(c.versions)
	choices := []string{"", "", "", c.tag(), "*", `"99"`, `W/` + c.tag(), `"0", ` + c.tag(), strconv.Quote(strconv.Itoa(n - 1))}
	if row == 4 { // requires If-Match
		choices = append(choices[2:], c.tag(), c.tag())
	}
	header = rapid.SampledFrom(choices).Draw(t, "If-Match")
	return header, header == "" || header == "*" || header == c.tag() || header == `"0", `+c.tag()
}

// edit sends an edit and compares the reply with the model's.
func (c *configuration) edit(t *rapid.T) {
	e := generator{t, float64(rapid.IntRange(1, 3).Draw(t, "number")), c.versions}.edit()
	match, holds := c.condition(t, e.row)
	next := c.newest().clone()
	want := e.apply(next)
	switch {
	case e.malformed:
		want = refused(400)
	case !holds:
		want = refused(412)
	case e.row == 4 && match == "":
		want = refused(428)
	}
	key := servicetest.Header{Name: "Idempotency-Key", Value: events.NewID("key")}
	r := c.send(e, match, key)
	what := fmt.Sprintf("%s with If-Match %s at version %d", e, match, len(c.versions))
	if r.Status != want.status {
		t.Fatalf("%s: %d, want %d: %s", what, r.Status, want.status, r.Body)
	}
	if want.status >= 300 {
		return
	}
	if !next.equals(c.newest()) {
		c.versions, c.status = append(c.versions, next), append(c.status, "draft")
	}
	c.checkReply(t, what, e, want, r)
	if rapid.Bool().Draw(t, "again") {
		c.checkReply(t, what+", again", e, want, c.send(e, match, key))
	}
}

func (c *configuration) send(e edit, match string, more ...servicetest.Header) servicetest.Reply {
	if match != "" {
		more = append(more, servicetest.Header{Name: "If-Match", Value: match})
	}
	return c.account.user.Do(e.method, c.path+e.path, e.body, more...)
}

// checkReply compares the reply to a successful edit with the model's.
func (c *configuration) checkReply(t *rapid.T, what string, e edit, want answer, r servicetest.Reply) {
	if r.Status != want.status || r.Header.Get("ETag") != c.tag() {
		t.Fatalf("%s: %d with the tag %s, want %d with %s", what, r.Status, r.Header.Get("ETag"), want.status, c.tag())
	}
	if created := r.Header.Get("Location") != ""; created != (want.status == 201) {
		t.Fatalf("%s: Location %q", what, r.Header.Get("Location"))
	}
	c.checkContent(t, what, e, want, r, c.newest(), len(c.versions))
}

// checkContent compares the body of a reply with the model's version.
func (c *configuration) checkContent(t *rapid.T, what string, e edit, want answer, r servicetest.Reply, s *versionModel, n int) {
	status := c.status[n-1]
	switch {
	case e.row == 4: // PATCH of the configuration
		c.checkBody(t, what, r, s.updated(n, status))
	case want.body == wholeDocument:
		c.checkBody(t, what, r, s.whole(n, status))
	case e.row == 8: // DELETE of an application
		if got := r.Object()["status"]; got != status {
			t.Fatalf("%s: status %v, want %s", what, got, status)
		}
	case want.body != nil:
		c.checkBody(t, what, r, want.body)
	}
}

// validate validates the configuration. The model only predicts whether the report
// has dangling references.
func (c *configuration) validate(t *rapid.T) {
	r := c.account.user.Post(c.path+"/validate", nil)
	if r.Status != 200 || r.Header.Get("ETag") != c.tag() {
		t.Fatalf("validate: %d, tag %s, want %s: %s", r.Status, r.Header.Get("ETag"), c.tag(), r.Body)
	}
	report := r.Object()
	unknown := 0
	for _, f := range report["errors"].(array) {
		if f.(object)["code"] == "UNKNOWN_REFERENCE" {
			unknown++
		}
	}
	if n := c.newest().dangling(); (n > 0) != (unknown > 0) {
		t.Fatalf("%d references are dangling, but the report has %d", n, unknown)
	}
	c.status[len(c.status)-1] = map[any]string{true: "validated", false: "invalid"}[report["valid"]]
}

// compare compares all views of the newest version with the model.
func (c *configuration) compare(t *rapid.T) {
	n := len(c.versions)
	r := c.account.user.Get(c.path)
	if r.Header.Get("ETag") != c.tag() {
		t.Fatalf("the tag is %s, want %s", r.Header.Get("ETag"), c.tag())
	}
	c.checkBody(t, "GET", r, c.newest().whole(n, c.status[n-1]))
	if all := c.account.user.Get(c.path + "?include=all").Object()["components"]; !reflect.DeepEqual(all, any(copyOf(c.newest().list("components")))) {
		t.Fatalf("include=all lists %v, want %v", all, c.newest().list("components"))
	}
	c.checkBody(t, "the newest version", c.account.user.Get(c.version(n)), c.newest().version(n))
	var got []string
	for _, v := range c.account.user.Get(c.path + "/versions").Object()["versions"].(array) {
		v := v.(object)
		got = append(got, fmt.Sprint(v["version"], v["status"]))
	}
	var want []string
	for i, status := range c.status {
		want = append(want, fmt.Sprint(i+1, status))
	}
	slices.Reverse(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("versions (-model +service):\n%s", diff)
	}
	parts := c.newest().parts()
	path := rapid.SampledFrom(slices.Sorted(maps.Keys(parts))).Draw(t, "list")
	member, _, _ := strings.Cut(path, "?")
	if diff := cmp.Diff(any(copyOf(parts[path])), c.account.user.Get(c.path + "/" + path).Object()[member]); diff != "" {
		t.Fatalf("%s (-model +service):\n%s", path, diff)
	}
}

// history compares every version, and the diff of two versions, with the model.
func (c *configuration) history(t *rapid.T) {
	for i, s := range c.versions {
		c.checkBody(t, fmt.Sprint("version ", i+1), c.account.user.Get(c.version(i+1)), s.version(i+1))
	}
	from := rapid.IntRange(1, len(c.versions)).Draw(t, "from")
	to := rapid.IntRange(1, len(c.versions)).Draw(t, "to")
	diff := exactly(t, c.account.user.Get(fmt.Sprintf("%s/diff?from=%d&to=%d", c.path, from, to)))
	if same := reflect.DeepEqual(c.versions[from-1].Doc, c.versions[to-1].Doc); same != (len(diff["patch"].(array)) == 0) || same != (len(diff["changes"].(array)) == 0) {
		t.Fatalf("versions %d and %d: equal is %t, but the diff is %v", from, to, same, diff)
	}
	was, is := exactly(t, c.account.user.Get(c.version(from)+"?include=all")), exactly(t, c.account.user.Get(c.version(to)+"?include=all"))
	if d := cmp.Diff(any(copyOf(c.versions[to-1].Doc)), any(copyOf(without(is, "version", "createdAt")))); d != "" {
		t.Fatalf("version %d with all components (-model +service):\n%s", to, d)
	}
	got := patched(t, was, diff["patch"].(array)).(object)
	got["version"], got["createdAt"] = is["version"], is["createdAt"]
	if want := canonical(t, is); canonical(t, got) != want {
		t.Fatalf("version %d with the patch to version %d is\n%s\nwant\n%s", from, to, canonical(t, got), want)
	}
}

// version returns the path of a version.
func (c *configuration) version(n int) string { return c.path + "/versions/" + strconv.Itoa(n) }

// exactly returns the body of a reply with its numbers as they are written.
func exactly(t *rapid.T, r servicetest.Reply) (o object) {
	d := json.NewDecoder(bytes.NewReader(r.Body))
	d.UseNumber()
	if err := d.Decode(&o); err != nil || r.Status != 200 {
		t.Fatalf("%d %s: %v", r.Status, r.Body, err)
	}
	return o
}

func canonical(t *rapid.T, o object) string {
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A configuration is the result of its successful edits, one after another, and no
// version ever changes.
func TestConfigurationEditsFollowTheModel(t *testing.T) {
	t.Parallel()
	l := newEditAccount(t)
	rapid.Check(t, func(t *rapid.T) {
		c := l.create(t)
		for range rapid.IntRange(1, 6).Draw(t, "edits") {
			if rapid.IntRange(0, 7).Draw(t, "validate") == 0 {
				c.validate(t)
			} else {
				c.edit(t)
			}
			c.compare(t)
		}
		c.history(t)
	})
}
