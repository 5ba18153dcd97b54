package objects_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/fault"
	"netsim/infra/objects"
	"netsim/internal/teststack"
)

func newStore(t *testing.T, change ...func(*objects.Config)) *objects.Store {
	t.Helper()
	o := teststack.Objects(t)
	config := objects.Config{
		Endpoint: o.Endpoint, Region: o.Region, Bucket: o.Bucket, AccessKey: o.AccessKey, SecretKey: o.SecretKey,
	}
	for _, f := range change {
		f(&config)
	}
	return objects.New(config)
}

func put(t *testing.T, s *objects.Store, key, content string) {
	t.Helper()
	if _, err := s.Put(t.Context(), key, "text/plain", strings.NewReader(content)); err != nil {
		t.Fatal(err)
	}
}

func keys(t *testing.T, s *objects.Store, prefix string) []string {
	t.Helper()
	var found []string
	for info, err := range s.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, info.Key)
	}
	return found
}

func TestPutGetHead(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for name, size := range map[string]int{
		"empty": 0, "small": 5, "one part": 8 << 20, "a byte more than a part": 8<<20 + 1, "many parts": 20 << 20,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := make([]byte, size)
			rand.NewChaCha8([32]byte{1}).Read(content)
			sum := sha256.Sum256(content)
			key := "put/" + strings.ReplaceAll(name, " ", "-") + "/file.csv"

			stored, err := s.Put(t.Context(), key, "text/csv", onlyReader{bytes.NewReader(content)})
			if err != nil {
				t.Fatal(err)
			}
			want := objects.Stored{Key: key, Size: int64(size), SHA256: hex.EncodeToString(sum[:])}
			if diff := cmp.Diff(want, stored); diff != "" {
				t.Errorf("stored (-want +got):\n%s", diff)
			}
			body, info, err := s.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			defer body.Close()
			got, err := io.ReadAll(body)
			if err != nil || !bytes.Equal(got, content) {
				t.Errorf("got %d bytes, %v; want the %d written", len(got), err, size)
			}
			head, err := s.Head(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			if head.Size != int64(size) || head.ContentType != "text/csv" || head.ETag == "" || head.Modified.IsZero() {
				t.Errorf("head %+v, want size %d and type text/csv", head, size)
			}
			if head.ETag != info.ETag || head.Size != info.Size {
				t.Errorf("head %+v differs from get %+v", head, info)
			}
		})
	}
}

// onlyReader hides every method of a reader except Read, so that its length is
// unknown.
type onlyReader struct{ io.Reader }

func TestMissing(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	_, _, getErr := s.Get(t.Context(), "none")
	_, headErr := s.Head(t.Context(), "none")
	for name, err := range map[string]error{"get": getErr, "head": headErr} {
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v, want %s", name, err, fault.NotFound)
		}
	}
}

func TestBrokenUploadLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	broken := io.MultiReader(bytes.NewReader(make([]byte, 17<<20)), iotest.ErrReader(errors.New("cable cut")))
	if _, err := s.Put(t.Context(), "broken/file", "text/csv", broken); err == nil || !strings.Contains(err.Error(), "cable cut") {
		t.Errorf("put: %v, want the reader's error", err)
	}

	ctx, stop := context.WithCancel(t.Context())
	stopped := s.Create(ctx, "broken/stopped", "text/csv")
	if _, err := stopped.Write(make([]byte, 9<<20)); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := stopped.Close(); !errors.Is(err, context.Canceled) {
		t.Errorf("close after the context ended: %v, want %v", err, context.Canceled)
	}

	aborted := s.Create(t.Context(), "broken/aborted", "text/csv")
	if _, err := io.WriteString(aborted, "x"); err != nil {
		t.Fatal(err)
	}
	if err := aborted.Abort(); err != nil {
		t.Fatal(err)
	}
	if err := aborted.Close(); err == nil {
		t.Error("close after abort: no error")
	}
	if _, err := aborted.Write([]byte("x")); err == nil {
		t.Error("write after abort: no error")
	}
	if diff := cmp.Diff([]string(nil), keys(t, s, "broken/")); diff != "" {
		t.Errorf("left behind (-want +got):\n%s", diff)
	}
}

func TestListAndDeletePrefix(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for _, key := range []string{"results/sim_a/1.csv", "results/sim_a/sub/2.csv", "results/sim_ab/1.csv", "other/1.csv"} {
		put(t, s, key, "x")
	}
	if diff := cmp.Diff([]string{"results/sim_a/1.csv", "results/sim_a/sub/2.csv"}, keys(t, s, "results/sim_a/")); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	var folders []string
	for folder, err := range s.Folders(t.Context(), "results/") {
		if err != nil {
			t.Fatal(err)
		}
		folders = append(folders, folder)
	}
	if diff := cmp.Diff([]string{"results/sim_a/", "results/sim_ab/"}, folders); diff != "" {
		t.Errorf("folders (-want +got):\n%s", diff)
	}
	for range 2 { // repeating changes nothing
		if err := s.DeletePrefix(t.Context(), "results/sim_a/"); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"other/1.csv", "results/sim_ab/1.csv"}, keys(t, s, "")); diff != "" {
		t.Errorf("after delete (-want +got):\n%s", diff)
	}
	for _, prefix := range []string{"", "/", "results", "results/sim_a", "/results/"} {
		if err := s.DeletePrefix(t.Context(), prefix); err == nil {
			t.Errorf("DeletePrefix(%q): no error", prefix)
		}
	}
}

func TestDeletePrefixInBatches(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for i := range 1005 {
		put(t, s, fmt.Sprintf("many/%04d", i), "")
	}
	if got := len(keys(t, s, "many/")); got != 1005 {
		t.Fatalf("listed %d, want 1005", got)
	}
	if err := s.DeletePrefix(t.Context(), "many/"); err != nil {
		t.Fatal(err)
	}
	if got := keys(t, s, "many/"); len(got) != 0 {
		t.Errorf("%d objects left, want none", len(got))
	}
}

func TestEnsureBucket(t *testing.T) {
	t.Parallel()
	s := newStore(t, func(c *objects.Config) { c.Bucket += "-new" })
	if err := s.Ping(t.Context()); !fault.Is(err, fault.NotFound) {
		t.Errorf("ping before the bucket exists: %v, want %s", err, fault.NotFound)
	}
	for range 2 {
		if err := s.EnsureBucket(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("ping after EnsureBucket: %v, want no error", err)
	}
	put(t, s, "a", "x")
}

func TestPresignedLink(t *testing.T) {
	t.Parallel()
	now := time.Now()
	clock := now
	s := newStore(t, func(c *objects.Config) { c.Now = func() time.Time { return clock } })
	put(t, s, "results/sim_a/nd stats é.csv", "a,b\n")

	link := func(ttl time.Duration) objects.Link {
		l, err := s.PresignGet(t.Context(), "results/sim_a/nd stats é.csv", `nd "stats" é.csv`, "text/csv", ttl)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	good := link(objects.LinkLife)
	if want := now.UTC().Truncate(time.Second).Add(900 * time.Second); !good.Expires.Equal(want) {
		t.Errorf("expires %s, want %s", good.Expires, want)
	}
	resp := get(t, good.URL)
	if resp.status != http.StatusOK || resp.body != "a,b\n" {
		t.Errorf("got %d %q, want the content", resp.status, resp.body)
	}
	if got := resp.header.Get("Content-Type"); got != "text/csv" {
		t.Errorf("content type %q, want text/csv", got)
	}
	disposition, parameters, err := mime.ParseMediaType(resp.header.Get("Content-Disposition"))
	if err != nil || disposition != "attachment" || parameters["filename"] != `nd "stats" é.csv` {
		t.Errorf("disposition %q %v, %v; want an attachment with the file's name", disposition, parameters, err)
	}

	clock = now.Add(-objects.LinkLife - time.Second)
	old := link(objects.LinkLife).URL
	clock = now.Add(-2 * time.Second)
	for name, url := range map[string]string{
		"expired":        old,
		"short, expired": link(time.Second).URL,
		"tampered":       strings.Replace(good.URL, "X-Amz-Expires=900", "X-Amz-Expires=9000", 1),
		"unsigned":       good.URL[:strings.IndexByte(good.URL, '?')],
	} {
		if got := get(t, url); got.status != http.StatusForbidden {
			t.Errorf("%s link: %d %s, want 403", name, got.status, got.body)
		}
	}
}

type response struct {
	status int
	header http.Header
	body   string
}

func get(t *testing.T, url string) response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response{resp.StatusCode, resp.Header, string(body)}
}
