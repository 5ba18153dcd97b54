//go:build service

package netsim_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"netsim/sdk/go"
	"netsim/sdk/go/api"
)

type row struct {
	Name           string
	Run            string
	Faults         []json.RawMessage
	AtLeastSeconds float64
	Status         int
	Passed         []struct {
		Method, Path      string
		Requests, AtLeast int
		Distinct          map[string]int
	}
}

// bench is a case in the making: a client behind the proxy, and one that no fault concerns.
type bench struct {
	*testing.T
	config  netsim.Config
	client  *netsim.Client
	direct  *netsim.Client
	row     row
	tokens  int
	proxied string
	begun   time.Time
}

// TestCases goes through the table of cases at a service, NETSIM_URL, behind the faulty proxy,
// SDK_PROXY.
func TestCases(t *testing.T) {
	text, err := os.ReadFile("../cases/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct{ Cases []row }
	if err := json.Unmarshal(text, &table); err != nil || len(table.Cases) == 0 {
		t.Fatalf("%d cases, %v", len(table.Cases), err)
	}
	runs := map[string]func(*bench){
		"create-workspace": createWorkspace, "create-workspace-refused": createRefused,
		"update-with-an-old-version": updateWithAnOldVersion, "submit-and-wait": submitAndWait,
		"follow-ten-workspaces": followTenWorkspaces, "upload-two-files": uploadTwoFiles,
		"upload-two-files-in-two-processes": uploadInTwoProcesses,
	}
	for _, row := range table.Cases {
		t.Run(row.Name, func(t *testing.T) {
			b := &bench{T: t, row: row, proxied: os.Getenv("SDK_PROXY")}
			b.config = netsim.Config{URL: b.proxied, Silence: time.Second, Tokens: func(context.Context) (string, error) {
				b.tokens++
				return os.Getenv("NETSIM_TOKEN"), nil
			}}
			b.client = newClient(t, b.config)
			b.direct = newClient(t, netsim.Config{})
			run, ok := runs[row.Run]
			if !ok {
				t.Fatalf("%q is not a run of cases/README.md", row.Run)
			}
			b.control(http.MethodDelete, "/__log", nil)
			b.control(http.MethodDelete, "/__case", nil)
			run(b)
			if took := time.Since(b.begun); took.Seconds() < row.AtLeastSeconds || took.Seconds() > row.AtLeastSeconds+20 {
				t.Errorf("it took %s; at least %v seconds are right", took, row.AtLeastSeconds)
			}
			b.checkPassed()
		})
	}
}

func newClient(t *testing.T, config netsim.Config) *netsim.Client {
	t.Helper()
	c, err := netsim.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (b *bench) control(method, path string, body io.Reader) []byte {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, b.proxied+path, body)
	if err != nil {
		b.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 300 {
		b.Fatalf("%s %s: %s %s, %v", method, path, response.Status, answer, err)
	}
	return answer
}

// arm arms the faults of the case; what is done before does not meet them.
func (b *bench) arm() {
	b.Helper()
	for _, f := range b.row.Faults {
		b.control(http.MethodPost, "/__case", bytes.NewReader(f))
	}
	b.begun = time.Now()
}

func (b *bench) checkPassed() {
	b.Helper()
	var log []map[string]any
	if err := json.Unmarshal(b.control(http.MethodGet, "/__log", nil), &log); err != nil {
		b.Fatal(err)
	}
	for _, want := range b.row.Passed {
		path, n, values := regexp.MustCompile(want.Path), 0, map[string]map[any]bool{}
		for _, passed := range log {
			if passed["method"] != want.Method || !path.MatchString(passed["path"].(string)) {
				continue
			}
			n++
			for member := range want.Distinct {
				if values[member] == nil {
					values[member] = map[any]bool{}
				}
				values[member][passed[member]] = true
			}
		}
		if want.AtLeast == 0 && n != want.Requests || n < want.AtLeast {
			b.Errorf("%d requests of %s %s; want %d, at least %d", n, want.Method, want.Path, want.Requests, want.AtLeast)
		}
		for member, number := range want.Distinct {
			if len(values[member]) != number {
				b.Errorf("the %s of %s %s has the values %v; want %d", member, want.Method, want.Path, values[member], number)
			}
		}
	}
	if b.Failed() {
		for _, passed := range log {
			b.Log(passed)
		}
	}
}

func must[T any](b *bench, value T, err error) T {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
	return value
}

func (b *bench) named(name string) (n int) {
	b.Helper()
	for w, err := range b.direct.AllWorkspaces(b.Context(), api.ListWorkspacesParams{Search: &name}) {
		if must(b, w, err).Name == name {
			n++
		}
	}
	return n
}

func createWorkspace(b *bench) {
	name := "case " + uuid.NewString()
	b.arm()
	w, err := b.client.CreateWorkspace(b.Context(), nil, api.WorkspaceCreate{Name: name})
	if must(b, w, err).Name != name || b.named(name) != 1 {
		b.Errorf("got %+v; %d workspaces have the name %s", w, b.named(name), name)
	}
	if b.row.Name == "token expired in the middle" && b.tokens != 2 {
		b.Errorf("the function that gives tokens was called %d times", b.tokens)
	}
}

func createRefused(b *bench) {
	b.arm()
	_, err := b.client.CreateWorkspace(b.Context(), nil, api.WorkspaceCreate{Name: "case " + uuid.NewString()})
	if refusal, ok := errors.AsType[*netsim.Error](err); !ok || refusal.Status != b.row.Status || refusal.Code == "" {
		b.Errorf("got %v; want status %d", err, b.row.Status)
	}
}

func updateWithAnOldVersion(b *bench) {
	var created *http.Response
	w := must2(b)(b.client.CreateWorkspace(b.Context(), nil, api.WorkspaceCreate{Name: "case " + uuid.NewString()}, netsim.Raw(&created)))
	params := &api.UpdateWorkspaceParams{IfMatch: new(api.Tag(created))}
	b.arm()
	first := must2(b)(b.client.UpdateWorkspace(b.Context(), w.ID, params, api.WorkspaceUpdate{Name: w.Name + " first"}))
	_, err := b.client.UpdateWorkspace(b.Context(), w.ID, params, api.WorkspaceUpdate{Name: w.Name + " second"})
	refusal, ok := errors.AsType[*netsim.Error](err)
	if !ok || !errors.Is(err, netsim.ErrConflict) || refusal.Status != http.StatusPreconditionFailed || refusal.Current == "" || refusal.Current == *params.IfMatch {
		b.Fatalf("the second update: %v", err)
	}
	if now := must2(b)(b.client.GetWorkspace(b.Context(), w.ID, nil)); now.Name != first.Name {
		b.Errorf("the name is %q", now.Name)
	}
}

func must2(b *bench) func(*api.Workspace, error) *api.Workspace {
	return func(w *api.Workspace, err error) *api.Workspace { b.Helper(); return must(b, w, err) }
}

func submitAndWait(b *bench) {
	b.arm()
	run, err := b.client.SubmitAndWait(b.Context(), api.SimpleSubmission{Workload: &api.SimpleWorkload{
		Ranks: 8, Phases: []api.SimplePhase{{OperationType: "allReduce", DataSize: 1 << 20}},
	}})
	if must(b, run, err).Status != api.SimulationStatusCompleted {
		b.Errorf("got %+v", run)
	}
}

func followTenWorkspaces(b *bench) {
	since := time.Now().Add(-time.Second)
	want := map[string]int{}
	for range 10 {
		w := must2(b)(b.client.CreateWorkspace(b.Context(), nil, api.WorkspaceCreate{Name: "case " + uuid.NewString()}))
		want[w.ID] = 0
	}
	ctx, cancel := context.WithCancelCause(b.Context())
	done := errors.New("all came")
	left := len(want)
	b.arm()
	params := api.FollowEventsParams{Since: &since, Type: []string{"netsim.workspace.created.v1"}}
	err := b.client.Follow(ctx, params, &netsim.MemoryStore{}, func(_ context.Context, e netsim.Event) error {
		if n, ok := want[e.Subject]; ok {
			if want[e.Subject]++; n == 0 {
				left--
			}
		}
		if left == 0 {
			cancel(done)
		}
		return nil
	})
	if !errors.Is(err, done) {
		b.Fatal(err)
	}
	for id, n := range want {
		if n != 1 {
			b.Errorf("the event of %s came %d times", id, n)
		}
	}
}

func twoFiles() []netsim.File {
	random := rand.NewChaCha8([32]byte{1})
	content := func(size int) []byte { c := make([]byte, size); _, _ = random.Read(c); return c }
	large, small := content(16<<20+1000), content(4096)
	return []netsim.File{
		{UploadFile: api.UploadFile{Name: "a.0.et", Size: int64(len(large))}, Content: bytes.NewReader(large)},
		{UploadFile: api.UploadFile{Name: "a.1.et", Size: int64(len(small))}, Content: bytes.NewReader(small)},
	}
}

func uploadTwoFiles(b *bench) {
	b.arm()
	set, err := b.client.Upload(b.Context(), api.TracesetUpload{Name: "case " + uuid.NewString()}, twoFiles(), &netsim.MemoryStore{})
	b.checkFiles(must(b, set, err))
}

func uploadInTwoProcesses(b *bench) {
	store := netsim.FileStore(b.TempDir() + "/upload")
	traceset := api.TracesetUpload{Name: "case " + uuid.NewString()}
	b.arm()
	if _, err := b.client.Upload(b.Context(), traceset, twoFiles(), store); err == nil || !strings.Contains(err.Error(), strconv.Itoa(500)) {
		b.Fatalf("the first call: %v", err)
	}
	set, err := newClient(b.T, b.config).Upload(b.Context(), traceset, twoFiles(), store)
	b.checkFiles(must(b, set, err))
}

func (b *bench) checkFiles(set *api.Traceset) {
	b.Helper()
	for i, f := range twoFiles() {
		sum := sha256.New()
		if _, err := io.Copy(sum, io.NewSectionReader(f.Content, 0, f.Size)); err != nil {
			b.Fatal(err)
		}
		if len(set.Files) != 2 || set.Files[i].Size != f.Size || set.Files[i].Hash != "sha256:"+hex.EncodeToString(sum.Sum(nil)) {
			b.Errorf("the files of the traceset are %+v", set.Files)
		}
	}
}
