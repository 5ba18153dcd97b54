package objects_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"netsim/fault"
	"netsim/infra/objects"
)

// beginUpload writes the first bytes of content, up to at, and returns the upload
// and its state.
func beginUpload(t *testing.T, s *objects.Store, key string, content []byte, at int) (*objects.Upload, objects.Standing) {
	t.Helper()
	u := s.Create(t.Context(), key, "text/csv")
	if _, err := u.Write(content[:at]); err != nil {
		t.Fatal(err)
	}
	standing, err := u.Stand()
	if err != nil {
		t.Fatal(err)
	}
	return u, standing
}

func random(t *testing.T, size int) []byte {
	t.Helper()
	content := make([]byte, size)
	source := rand.NewChaCha8([32]byte{1})
	source.Read(content) //nolint:errcheck // never fails
	return content
}

// An upload can be resumed from a state taken at any point, whether the first
// process then completed the object or wrote other content.
func TestResumeUpload(t *testing.T) {
	t.Parallel()
	const part = 8 << 20
	s := newStore(t)
	content := random(t, 3*part+5)
	for name, c := range map[string]struct {
		at        int
		completed bool
	}{
		"before the first part": {100, false},
		"at a part's end":       {part, false},
		"within a part":         {2*part + 7, false},
		"completed meanwhile":   {2*part + 7, true},
		"completed, none sent":  {100, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, standing := beginUpload(t, s, name, content, c.at)
			if c.completed {
				if _, err := u.Write(content[c.at:]); err != nil {
					t.Fatal(err)
				}
				if err := u.Close(); err != nil {
					t.Fatal(err)
				}
			} else if _, err := u.Write(bytes.Repeat([]byte("other"), part/2)); err != nil {
				t.Fatal(err)
			}

			u, err := s.GoOn(t.Context(), standing)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := u.Write(content[c.at:]); err != nil {
				t.Fatal(err)
			}
			if err := u.Close(); err != nil {
				t.Fatal(err)
			}
			whole := s.Create(t.Context(), name+" again", "text/csv")
			if _, err := whole.Write(content); err != nil {
				t.Fatal(err)
			}
			if err := whole.Close(); err != nil {
				t.Fatal(err)
			}
			if got, want := u.Stored(), whole.Stored(); got.SHA256 != want.SHA256 || got.Size != want.Size {
				t.Errorf("stored %+v, want %+v", got, want)
			}
			body, info, err := s.Get(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			defer body.Close()
			if got, err := io.ReadAll(body); err != nil || !bytes.Equal(got, content) || info.ContentType != "text/csv" {
				t.Errorf("the object has %d bytes of %s (%v), want the %d bytes written, as text/csv", len(got), info.ContentType, err, len(content))
			}
		})
	}
}

// An upload is not resumed if the store does not have the sent parts any more, or if
// the state is damaged.
func TestResumeRefusesLostParts(t *testing.T) {
	t.Parallel()
	const part = 8 << 20
	s := newStore(t)
	content := random(t, 2*part)
	for name, spoil := range map[string]func(*objects.Upload, *objects.Standing) error{
		"aborted":     func(u *objects.Upload, _ *objects.Standing) error { return u.Abort() },
		"other parts": func(_ *objects.Upload, at *objects.Standing) error { at.ETags[0] = `"00"`; return nil },
		"another content": func(u *objects.Upload, _ *objects.Standing) error {
			return errors.Join(u.Abort(), func() error {
				_, err := s.Put(t.Context(), "another content", "text/csv", bytes.NewReader(make([]byte, 2*part)))
				return err
			}())
		},
		"a smaller object": func(u *objects.Upload, _ *objects.Standing) error {
			put(t, s, "a smaller object", "small")
			return u.Abort()
		},
		"no hash": func(_ *objects.Upload, at *objects.Standing) error { at.Sum = nil; return nil },
	} {
		u, standing := beginUpload(t, s, name, content, part+7)
		if err := spoil(u, &standing); err != nil {
			t.Fatal(err)
		}
		if _, err := s.GoOn(t.Context(), standing); !fault.Is(err, fault.NotFound) {
			t.Errorf("resume with %s: %v, want %s", name, err, fault.NotFound)
		}
	}
}
