package writeapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"netsim/events"
	"netsim/internal/servicetest"
)

// author sends writes of all kinds. Each has an idempotency key, so that its
// repetition is answered from the read model.
type author struct {
	*rapid.T
	client         *servicetest.Client
	traceset       string
	runnable       string // a validated configuration
	workspaces     []string
	configurations []string
}

// text draws a text. JSON escapes parts of some of them.
func (a *author) text(label string) string {
	return rapid.SampledFrom([]string{"plain", "é <&> \"quoted\" \\", "line\u2028separator", "🜁 \U0010ffff"}).Draw(a.T, label)
}

func (a *author) one(label string, of []string) string { return rapid.SampledFrom(of).Draw(a.T, label) }

func (a *author) workspace() string {
	return a.one("workspace", append([]string{events.DefaultWorkspace}, a.workspaces...))
}

// write sends a write twice and reads what it wrote. The write's own answer, the
// read and the repetition must be equal, byte for byte. reads is the path to read,
// "" for that of the Location.
func (a *author) write(method, path string, body any, status int, reads string, more ...servicetest.Header) servicetest.Reply {
	more = append(more, key(events.NewID("key")))
	made := a.client.Do(method, path, body, more...)
	if made.Status != status {
		a.Fatalf("%s %s %v: %d %s", method, path, body, made.Status, made.Body)
	}
	if reads == "" {
		reads = made.Header.Get("Location")
	}
	if !strings.HasPrefix(reads, simulations) { // a simulation may have progressed already
		a.same(fmt.Sprintf("%s %s and a read", method, path), made, a.client.Get(reads))
	}
	a.same(fmt.Sprintf("%s %s and its repetition", method, path), made, a.client.Do(method, path, body, more...))
	return made
}

func (a *author) same(what string, made, read servicetest.Reply) {
	if tag := read.Header.Get("ETag"); made.Header.Get("ETag") != tag {
		a.Fatalf("%s have the tags %s and %s", what, made.Header.Get("ETag"), tag)
	}
	if got, want := plain(made.Body), plain(read.Body); !bytes.Equal(got, want) {
		a.Fatalf("%s differ:\n%s\n%s", what, got, want)
	}
}

// plain returns a body without the warnings, which only the answer to an update has.
func plain(body []byte) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil || members["warnings"] == nil {
		return body
	}
	return bytes.Replace(body, append([]byte(`,"warnings":`), members["warnings"]...), nil, 1)
}

// labels draws a name and sometimes a description for a workspace.
func (a *author) labels() object {
	body := object{"name": a.text("name")}
	if rapid.Bool().Draw(a.T, "described") {
		body["description"] = a.text("description")
	}
	return body
}

func (a *author) createWorkspace() {
	a.workspaces = append(a.workspaces, a.write("POST", workspaces, a.labels(), 201, "").Object()["id"].(string))
}

func (a *author) updateWorkspace() {
	path := workspaces + "/" + a.one("which", a.workspaces)
	a.write("PATCH", path, a.labels(), 200, path)
}

func (a *author) createConfiguration() {
	body := with(oneRack(a.text("name")), object{"workspaceId": a.workspace()})
	if rapid.Bool().Draw(a.T, "with a traceset") {
		body["activeTraceset"] = object{"id": a.traceset}
	}
	a.configurations = append(a.configurations, a.write("POST", configurations, body, 201, "").Object()["id"].(string))
}

func (a *author) cloneConfiguration() {
	path := configurations + "/" + a.one("which", append([]string{a.runnable}, a.configurations...)) + "/clone"
	made := a.write("POST", path, object{"name": a.text("name"), "workspaceId": a.workspace()}, 201, "")
	a.configurations = append(a.configurations, made.Object()["id"].(string))
}

func (a *author) editConfiguration() {
	path := configurations + "/" + a.one("which", a.configurations)
	any := ifMatch("*")
	switch a.one("edit", []string{"rename", "replace", "attach", "detach", "validate"}) {
	case "rename":
		a.write("PATCH", path, object{"name": a.text("name")}, 200, path, any)
	case "replace":
		components := oneRack("")["components"].([]object)
		if rapid.Bool().Draw(a.T, "without the spare part") {
			components = append(components[:2:2], components[3])
		}
		a.write("PATCH", path, object{"components": components}, 200, path, any)
	case "attach":
		a.write("PATCH", path+"/traceset", object{"tracesetId": a.traceset}, 200, path)
	case "detach":
		a.client.Patch(path+"/traceset", object{"tracesetId": a.traceset}).Want(200)
		a.write("DELETE", path+"/traceset", nil, 200, path)
	case "validate":
		a.client.Post(path+"/validate", nil).Want(200)
	}
}

func (a *author) createTemplate() {
	made := a.write("POST", templates, with(aTemplate(a.text("name")), object{"description": a.text("description")}), 201, "")
	clone := object{"name": a.text("name"), "workspaceId": a.workspace()}
	a.write("POST", templates+"/"+made.Object()["id"].(string)+"/clone", clone, 201, "")
}

func (a *author) startSimulation() {
	a.write("POST", simulations, object{"configurationId": a.runnable, "name": "run-1_*", "duration": "1ms"}, 201, "")
}

// TestAnAnswerIsWhatAReadReturns: the answer to a write is made from the state that
// its command made. When no other client writes, it equals a read, byte for byte.
func TestAnAnswerIsWhatAReadReturns(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	client := p.Service(t, account)
	first := newWorkspace(t, client, "first")
	// Runs change the counts of their workspace, so they have one of their own.
	ready := newValidConfiguration(t, client, newWorkspace(t, client, "runs"), workload(8, phase("allReduce", "", 1024)))
	traceset := client.Get(configurations + "/" + ready).Want(200).Object()["activeTraceset"].(object)["id"].(string)
	another := client.Post(configurations, oneRack("another")).Want(201).Object()["id"].(string)
	rapid.Check(t, func(t *rapid.T) {
		a := &author{T: t, client: client, traceset: traceset, runnable: ready, workspaces: []string{first}, configurations: []string{another}}
		writes := []func(){
			a.createWorkspace, a.updateWorkspace, a.updateWorkspace, a.createConfiguration, a.cloneConfiguration,
			a.editConfiguration, a.editConfiguration, a.editConfiguration, a.createTemplate, a.startSimulation,
		}
		for range rapid.IntRange(1, 8).Draw(t, "writes") {
			rapid.SampledFrom(writes).Draw(t, "write")()
		}
	})
}
