package objects_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"testing"

	"netsim/infra/objects"
)

// putter is a store that refuses the first puts, and keeps the content and the hash of each.
type putter struct {
	refuse int
	got    [][]byte
	hashes []string
}

func (p *putter) RoundTrip(r *http.Request) (*http.Response, error) {
	var content []byte
	if r.Body != nil {
		var err error
		if content, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	p.got, p.hashes = append(p.got, content), append(p.hashes, r.Header.Get("X-Amz-Content-Sha256"))
	status := http.StatusOK
	if len(p.got) <= p.refuse {
		status = http.StatusServiceUnavailable
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

// TestContentIsSignedAndSentAgain: an object has the bytes that were written, in whatever
// pieces, the signature names their hash, and a put that the store refuses is sent again
// with the same bytes.
func TestContentIsSignedAndSentAgain(t *testing.T) {
	t.Parallel()
	for _, endpoint := range []string{"http://store", "https://store"} {
		for _, size := range []int{0, 1, 700, 64<<10 - 1, 64 << 10, 64<<10 + 1, 200_003, 8 << 20} {
			t.Run(fmt.Sprint(endpoint, " ", size), func(t *testing.T) {
				t.Parallel()
				store := &putter{refuse: 1}
				s := objects.New(objects.Config{
					Endpoint: endpoint, Region: "us-east-1", Bucket: "b", AccessKey: "a", SecretKey: "s",
					Wrap: func(*http.Transport) http.RoundTripper { return store },
				})
				content := random(t, size)
				u := s.Create(t.Context(), "key", "text/plain")
				for rest, n := content, 1; len(rest) > 0; n = 3*n + 1 {
					piece := rest[:min(n, len(rest))]
					if _, err := u.Write(piece); err != nil {
						t.Fatal(err)
					}
					rest = rest[len(piece):]
				}
				if err := u.Close(); err != nil {
					t.Fatal(err)
				}
				sum := sha256.Sum256(content)
				want := hex.EncodeToString(sum[:])
				if len(store.got) != 2 || u.Stored().SHA256 != want {
					t.Fatalf("the object was put %d times and has the hash %s, want twice and %s", len(store.got), u.Stored().SHA256, want)
				}
				for i, got := range store.got {
					if !bytes.Equal(got, content) || store.hashes[i] != want {
						t.Errorf("put %d has %d bytes with the hash %s, want %d with %s", i+1, len(got), store.hashes[i], size, want)
					}
				}
			})
		}
	}
}
