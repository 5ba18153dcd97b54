package runs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/infra/objects"
	"netsim/internal/testwait"
)

// gathering is an object store that answers puts only once it has as many as it waits for,
// and refuses files with a name.
type gathering struct {
	refuse string
	limit  time.Duration

	mu       sync.Mutex
	contents map[string]string
	awaited  int           // puts that it waits for
	all      chan struct{} // closed when they are there
}

func (g *gathering) RoundTrip(r *http.Request) (*http.Response, error) {
	var content []byte
	if r.Body != nil {
		content, _ = io.ReadAll(r.Body)
	}
	name := path.Base(r.URL.Path)
	g.mu.Lock()
	if g.awaited--; g.awaited == 0 {
		close(g.all)
	}
	g.mu.Unlock()
	select {
	case <-g.all:
	case <-time.After(g.limit):
		return nil, fmt.Errorf("%s came alone", name)
	}
	status, body := http.StatusOK, ""
	if g.refuse != "" && strings.Contains(name, g.refuse) {
		status, body = http.StatusForbidden, "<Error><Code>AccessDenied</Code></Error>"
	} else {
		g.mu.Lock()
		g.contents[name] = string(content)
		g.mu.Unlock()
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// write writes the files of an attempt and closes them.
func (g *gathering) write(t *testing.T, names ...string) *files {
	t.Helper()
	g.limit, g.contents, g.all = testwait.Limit(t), map[string]string{}, make(chan struct{})
	r := &Runner{Now: time.Now, Log: slog.New(slog.DiscardHandler), Objects: objects.New(objects.Config{
		Endpoint: "http://store", Region: "us-east-1", Bucket: "b", AccessKey: "a", SecretKey: "s",
		Wrap: func(*http.Transport) http.RoundTripper { return g },
	})}
	f := (&storeCalls{Runner: r, simulation: "sim", log: &runLog{now: time.Now, log: r.Log}}).newFiles(t.Context())
	f.overlap()
	for i, name := range names {
		w, err := f.create(name)
		if err == nil {
			_, err = w.Write(bytes.Repeat([]byte{'a' + byte(i)}, 70_000*i))
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// TestFilesAreStoredTogether: the files that a run closes at its end are stored at the same
// time. They are all stored when the manifest is, which lists them in the order in which they
// were closed.
func TestFilesAreStoredTogether(t *testing.T) {
	t.Parallel()
	names := []string{"c.csv", "a.csv", "d.json", "b.log"}
	store := &gathering{awaited: len(names) + 1}
	key, err := store.write(t, names...).seal()
	if err != nil || path.Base(key) != ManifestName {
		t.Fatalf("sealed %s: %v", key, err)
	}
	var manifest Manifest
	if err := json.Unmarshal([]byte(store.contents[ManifestName]), &manifest); err != nil {
		t.Fatal(err)
	}
	var listed []string
	for i, f := range manifest.Files {
		listed = append(listed, f.Name)
		sum := sha256.Sum256([]byte(store.contents[f.Name]))
		if f.Size != int64(70_000*i) || f.Size != int64(len(store.contents[f.Name])) || f.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("%s is listed with %d bytes and the hash %s, and has %d bytes", f.Name, f.Size, f.SHA256, len(store.contents[f.Name]))
		}
	}
	if diff := cmp.Diff(names, listed); diff != "" {
		t.Errorf("the manifest lists (-closed +listed):\n%s", diff)
	}
}

// TestAFileThatIsNotStored: nothing is sealed without a file that the store refuses, and no
// file is being stored any more when the files are given up.
func TestAFileThatIsNotStored(t *testing.T) {
	t.Parallel()
	store := &gathering{awaited: 1, refuse: "b.csv"}
	f := store.write(t, "a.csv", "b.csv", "c.csv")
	_, err := f.seal()
	if lost, ok := errors.AsType[unstored](err); !ok || !strings.Contains(lost.reason, "b.csv could not be stored: the object store refuses it (AccessDenied)") || f.err == nil {
		t.Errorf("sealed with the error %v, noted %v", err, f.err)
	}
	if err := f.abort(); err != nil {
		t.Error(err)
	}

	late := &gathering{awaited: 2} // the second put lets the first go on
	f = late.write(t, "a.csv", "b.csv")
	if err := f.abort(); err != nil {
		t.Error(err)
	}
	late.mu.Lock()
	defer late.mu.Unlock()
	if len(late.contents) != 2 {
		t.Errorf("%d of 2 files were stored when they were given up", len(late.contents))
	}
}
