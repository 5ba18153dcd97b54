package netsim

import (
	"bytes"
	"crypto/md5" //nolint:gosec // the entity tag of an object store
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"netsim/sdk/go/api"
)

// store is a service and its object store for uploads of files of given sizes.
type store struct {
	fail  int // the next so many parts are lost
	done  func(*http.Request) (*http.Response, error)
	parts []string
	sum   string
}

func (s *store) RoundTrip(r *http.Request) (*http.Response, error) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/upload-url"):
		links := api.TracesetUploadSession{UploadID: "upload_01", Files: []api.UploadFileLinks{{Name: "a", Parts: []api.PartLink{
			{PartNumber: 1, URL: "http://store.test/1"}, {PartNumber: 2, URL: "http://store.test/2"},
		}}}}
		text, err := json.Marshal(links)
		if err != nil {
			return nil, err
		}
		return answer(200, string(text))(r)
	case r.Method == http.MethodPut:
		if s.fail > 0 {
			s.fail--
			return noAnswer(r)
		}
		content, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		s.parts = append(s.parts, fmt.Sprint(r.URL.Path, ":", len(content)))
		s.sum = r.Header.Get("Content-MD5")
		return answer(200, "", "ETag", fmt.Sprintf(`"%x"`, md5.Sum(content)))(r) //nolint:gosec // see above
	default:
		return s.done(r)
	}
}

func TestUploadGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		content := bytes.Repeat([]byte("x"), partBytes+10)
		hash := fmt.Sprintf("sha256:%x", sha256.Sum256(content))
		s := &store{fail: 1, done: refused(500, "INTERNAL_ERROR", "internal error")}
		c, err := New(Config{URL: "http://netsim.test", HTTP: &http.Client{Transport: s}})
		if err != nil {
			t.Fatal(err)
		}
		state := FileStore(t.TempDir() + "/state")
		upload := func(content []byte) (*api.Traceset, error) {
			s.parts = nil
			file := File{api.UploadFile{Name: "a", Size: int64(len(content))}, bytes.NewReader(content)}
			return c.Upload(t.Context(), api.TracesetUpload{Name: "t"}, []File{file}, state)
		}
		if _, err := upload(content); err == nil || fmt.Sprint(s.parts) != fmt.Sprintf("[/1:%d /2:10]", partBytes) || s.sum == "" {
			t.Errorf("%v; sent %v", err, s.parts)
		}
		// The end of the file has changed since.
		changed := append(bytes.Clone(content[:partBytes]), "yyyyyyyyyy"...)
		if _, err := upload(changed); err == nil || fmt.Sprint(s.parts) != "[/2:10]" {
			t.Errorf("%v; sent %v of a changed file", err, s.parts)
		}
		if _, err := upload(content[:partBytes]); err == nil || !strings.Contains(err.Error(), "read part 2") {
			t.Errorf("of a file that is shorter: %v", err)
		}
		s.done = answer(201, fmt.Sprintf(`{"id":"ts_01","files":[{"name":"a","hash":%q}]}`, hash))
		if _, err := upload(changed); err == nil || !strings.Contains(err.Error(), "has the hash "+hash) {
			t.Errorf("of a file that arrived otherwise: %v", err)
		}
		if set, err := upload(content); err != nil || set.ID != "ts_01" || fmt.Sprint(s.parts) != "[/2:10]" {
			t.Errorf("%v, %v; sent %v", set, err, s.parts)
		}
		if err := state.Save(t.Context(), `{"session":{"uploadId":"upload_00","files":[]}}`); err != nil {
			t.Fatal(err)
		}
		whole := s.done
		s.done = func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			if err != nil || !bytes.Contains(body, []byte("upload_01")) {
				return refused(410, "GONE", "the upload is over")(r)
			}
			return whole(r)
		}
		if set, err := upload(content); err != nil || set.ID != "ts_01" || len(s.parts) != 2 {
			t.Errorf("after the session was over: %v, %v; sent %v", set, err, s.parts)
		}
		if text, err := state.Load(t.Context()); text != "" || err != nil {
			t.Errorf("a complete upload left the state %q, %v", text, err)
		}
	})
}

func TestRows(t *testing.T) {
	t.Parallel()
	text := "a,b\n1,\"x,y\"\n2,\n"
	link := func(text string) func(*http.Request) (*http.Response, error) {
		return answer(200, fmt.Sprintf(`{"downloadUrl":"http://store.test/f","checksum":"sha256:%x"}`, sha256.Sum256([]byte(text))))
	}
	c, s := client(t, Config{Token: "t"}, link(text), answer(200, text, "Content-Type", "text/csv"))
	var rows []Row
	for row, err := range c.Rows(t.Context(), "sim_01", "f.csv") {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	if fmt.Sprint(rows) != "[map[a:1 b:x,y] map[a:2 b:]]" || s.asked[1].Header.Get("Authorization") != "" {
		t.Errorf("got %v; the store was sent %v", rows, s.asked[1].Header)
	}
	c, _ = client(t, Config{}, link(text), answer(200, text+"3,z\n", "Content-Type", "text/csv"))
	var failed error
	for _, err := range c.Rows(t.Context(), "sim_01", "f.csv") {
		failed = errors.Join(failed, err)
	}
	if failed == nil || !strings.Contains(failed.Error(), "checksum") {
		t.Errorf("of a file that is not what the service has: %v", failed)
	}
	c, _ = client(t, Config{}, link(text), answer(403, "<Error>expired</Error>"))
	if _, err := c.Download(t.Context(), "sim_01", "f.csv"); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("of an expired link: %v", err)
	}
}

func TestCosts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		run := &api.Simulation{ID: "sim_01"}
		c, s := client(t, Config{},
			answer(200, `{"items":[],"pagination":{"hasMore":false}}`),
			answer(200, `{"items":[
				{"billingItemId":3,"startTimestamp":"2026-11-26T10:00:03Z","details":{"resourceId":"sim_01"}},
				{"billingItemId":2,"startTimestamp":"2026-11-26T10:00:02Z","endTimestamp":"2026-11-26T10:00:09Z","details":{"resourceId":"sim_01"}},
				{"billingItemId":1,"startTimestamp":"2026-11-25T10:00:02Z","endTimestamp":"2026-11-26T10:00:09Z","details":{"resourceId":"sim_01"}}],
				"pagination":{"hasMore":true,"nextCursor":"n"}}`),
			answer(200, `{"costs":[{"billingItemId":1,"cost":"1"},{"billingItemId":2,"cost":"0.5"}],"pagination":{"hasMore":false}}`))
		if costs, err := c.Costs(t.Context(), run); costs != nil || err != nil || len(s.asked) != 0 {
			t.Errorf("of a run that did not start: %v, %v", costs, err)
		}
		for _, at := range []struct {
			of   *api.Timestamp
			text string
		}{{&run.CreatedAt, "2026-11-26T10:00:00Z"}, {&run.StartedAt, "2026-11-26T10:00:01Z"}, {&run.CompletedAt, "2026-11-27T00:00:00Z"}} {
			if err := at.of.UnmarshalText([]byte(at.text)); err != nil {
				t.Fatal(err)
			}
		}
		costs, err := c.Costs(t.Context(), run)
		if err != nil || len(costs) != 1 || costs[0].Cost != "0.5" || s.asked[2].URL.RawQuery != "startDate=2026-11-26&endDate=2026-11-27" {
			t.Errorf("got %+v, %v after %d requests, the last for %s", costs, err, len(s.asked), s.asked[len(s.asked)-1].URL)
		}
	})
}
