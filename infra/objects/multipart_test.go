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

// putPart puts content to a link, as a client does.
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

// uploading is an object of which clients put the parts.
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
		"another tag":        {first, {Number: 2, ETag: first.ETag}},
		"a part not put":     {first, second, {Number: 3, ETag: second.ETag}},
		"out of order":       {second, first},
		"a tag that is none": {first, {Number: 2, ETag: "x"}},
	} {
		if err := u.join(parts...); !fault.Is(err, fault.Validation) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for range 2 { // once more changes nothing
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
		t.Errorf("%d bytes of %s, %v", len(content), info.ContentType, err)
	}
	if err := s.DropParts(t.Context(), u.key, u.id); err != nil {
		t.Errorf("drop what is joined: %v", err)
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
		t.Errorf("join what is dropped: %v", err)
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
		t.Errorf("status %d", status)
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
		t.Errorf("%q, %v", content.String(), err)
	}
	for range 2 {
		if err := s.Delete(t.Context(), "staging/some thing+more"); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Copy(t.Context(), "staging/some thing+more", "x"); !fault.Is(err, fault.NotFound) {
		t.Errorf("copy what is gone: %v", err)
	}
}

func TestWhatIsUploadedCanBeListed(t *testing.T) {
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
		t.Errorf("%+v, want %+v and %+v", listed, one, two)
	}
	if bare := (objects.Part{Number: 1, ETag: strings.Trim(one.ETag, `"`)}); !bare.Same(one) {
		t.Errorf("%+v is not %+v", bare, one)
	}
	for range 2 {
		var begun []objects.Begun
		for b, err := range s.ListBegun(t.Context(), "staging/") {
			if err != nil {
				t.Fatal(err)
			}
			begun = append(begun, b)
			if b.Key != u.key || b.ID != u.id || time.Since(b.At).Abs() > time.Minute {
				t.Errorf("%+v is not %+v", b, u)
			}
			if err := s.DropParts(t.Context(), b.Key, b.ID); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.ListParts(t.Context(), u.key, u.id); !fault.Is(err, fault.NotFound) || len(begun) > 1 {
			t.Errorf("%d begun; parts after they are dropped: %v", len(begun), err)
		}
	}
}
