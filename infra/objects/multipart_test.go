package objects_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"netsim/fault"
	"netsim/infra/objects"
)

// putPart puts the content to a link, as a client does.
func putPart(t *testing.T, link, content string) (status int, tag string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, link, strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if _, err := io.Copy(io.Discard, reply.Body); err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, reply.Header.Get("ETag")
}

// uploading is a multipart upload whose parts the test puts.
type uploading struct {
	t       *testing.T
	store   *objects.Store
	key, id string
}

func begin(t *testing.T, s *objects.Store, key string) uploading {
	t.Helper()
	id, err := s.BeginParts(t.Context(), key, "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	return uploading{t, s, key, id}
}

func (u uploading) put(number int32, content string) objects.Part {
	u.t.Helper()
	link, err := u.store.PresignPart(u.t.Context(), u.key, u.id, number, time.Minute)
	if err != nil {
		u.t.Fatal(err)
	}
	status, tag := putPart(u.t, link.URL, content)
	if status != 200 || tag == "" {
		u.t.Fatalf("part %d: status %d, tag %q", number, status, tag)
	}
	return objects.Part{Number: number, ETag: tag}
}

func (u uploading) join(parts ...objects.Part) error {
	u.t.Helper()
	return u.store.JoinParts(u.t.Context(), u.key, u.id, parts)
}

func TestParts(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	big := strings.Repeat("x", 5<<20)
	u := begin(t, s, "staging/a")
	u.put(1, strings.Repeat("y", 5<<20))
	first, second := u.put(1, big), u.put(2, "end")
	for name, parts := range map[string][]objects.Part{
		"another tag":     {first, {Number: 2, ETag: first.ETag}},
		"a part not put":  {first, second, {Number: 3, ETag: second.ETag}},
		"out of order":    {second, first},
		"a malformed tag": {first, {Number: 2, ETag: "x"}},
	} {
		if err := u.join(parts...); !fault.Is(err, fault.Validation) {
			t.Errorf("join with %s: %v, want %s", name, err, fault.Validation)
		}
	}
	for range 2 { // joining again changes nothing
		if err := u.join(first, second); err != nil {
			t.Fatal(err)
		}
	}
	r, info, err := s.Get(t.Context(), "staging/a")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if content, err := io.ReadAll(r); err != nil || string(content) != big+"end" || info.ContentType != "text/plain" {
		t.Errorf("got %d bytes of %s, %v; want the joined parts as text/plain", len(content), info.ContentType, err)
	}
	if err := s.DropParts(t.Context(), u.key, u.id); err != nil {
		t.Errorf("DropParts after JoinParts: %v, want no error", err)
	}
}

func TestDroppedPartsAreGone(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	u := begin(t, s, "staging/b")
	part := u.put(1, "content")
	for range 2 {
		if err := s.DropParts(t.Context(), u.key, u.id); err != nil {
			t.Fatal(err)
		}
	}
	if err := u.join(part); !fault.Is(err, fault.NotFound) {
		t.Errorf("JoinParts after DropParts: %v, want %s", err, fault.NotFound)
	}
}

func TestPartLinksExpire(t *testing.T) {
	t.Parallel()
	s := newStore(t, func(c *objects.Config) { c.Now = func() time.Time { return time.Now().Add(-time.Hour) } })
	u := begin(t, s, "staging/c")
	link, err := s.PresignPart(t.Context(), u.key, u.id, 1, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := putPart(t, link.URL, "late"); status != 403 {
		t.Errorf("put to an expired link: status %d, want 403", status)
	}
}

func TestCopyAndDelete(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	put(t, s, "staging/some thing+more", "content")
	for range 2 {
		if err := s.Copy(t.Context(), "staging/some thing+more", "libraries/lib_1/ab/cd"); err != nil {
			t.Fatal(err)
		}
	}
	r, _, err := s.Get(t.Context(), "libraries/lib_1/ab/cd")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var content bytes.Buffer
	if _, err := content.ReadFrom(r); err != nil || content.String() != "content" {
		t.Errorf("content of the copy = %q, %v; want %q", content.String(), err, "content")
	}
	for range 2 {
		if err := s.Delete(t.Context(), "staging/some thing+more"); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Copy(t.Context(), "staging/some thing+more", "x"); !fault.Is(err, fault.NotFound) {
		t.Errorf("copy of a deleted object: %v, want %s", err, fault.NotFound)
	}
}

func TestListPartsAndUploads(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	u := begin(t, s, "staging/d")
	u.put(2, "two")
	u.put(1, "other")
	one, two := u.put(1, "first"), u.put(2, "second")
	listed, err := s.ListParts(t.Context(), u.key, u.id)
	if err != nil {
		t.Fatal(err)
	}
	if len(listed) != 2 || !listed[0].Same(one) || listed[0].Size != 5 || !listed[1].Same(two) || listed[1].Size != 6 || listed[0].Same(two) {
		t.Errorf("ListParts = %+v, want %+v of 5 bytes and %+v of 6", listed, one, two)
	}
	if unquoted := (objects.Part{Number: 1, ETag: strings.Trim(one.ETag, `"`)}); !unquoted.Same(one) {
		t.Errorf("%+v.Same(%+v) = false, want true", unquoted, one)
	}
	for range 2 {
		var begun []objects.Begun
		for b, err := range s.ListBegun(t.Context(), "staging/") {
			if err != nil {
				t.Fatal(err)
			}
			begun = append(begun, b)
			if b.Key != u.key || b.ID != u.id || time.Since(b.At).Abs() > time.Minute {
				t.Errorf("listed upload %+v, want key %s and id %s, begun now", b, u.key, u.id)
			}
			if err := s.DropParts(t.Context(), b.Key, b.ID); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.ListParts(t.Context(), u.key, u.id); !fault.Is(err, fault.NotFound) || len(begun) > 1 {
			t.Errorf("%d uploads, want at most 1; ListParts after DropParts: %v, want %s", len(begun), err, fault.NotFound)
		}
	}
}
