package engines

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// File is a result file of a run.
type File struct {
	Name   string // path/with/slashes
	Size   int64  // bytes
	SHA256 string // hex
}

const (
	maxFiles = 10_000
	maxName  = 512 // bytes
)

var fileName = regexp.MustCompile(`^[A-Za-z0-9._/-]+$`)

// Results lists the result files of a run that has ended. A run that has not is
// Answered with 409.
func (c *Client) Results(ctx context.Context, run Run) ([]File, error) {
	var body struct {
		Files []struct {
			Name, Checksum string
			Size           int64
		}
	}
	if err := c.call(ctx, http.MethodGet, run.BaseURL, []string{"runs", run.ID, "results"}, nil, nil, &body); err != nil {
		return nil, err
	}
	if len(body.Files) > maxFiles {
		return nil, garbled("%d result files, more than %d", len(body.Files), maxFiles)
	}
	files := make([]File, len(body.Files))
	seen := map[string]bool{}
	for i, f := range body.Files {
		sum, ok := strings.CutPrefix(f.Checksum, "sha256:")
		raw, err := hex.DecodeString(sum)
		switch {
		case !fs.ValidPath(f.Name) || f.Name == "." || len(f.Name) > maxName || !fileName.MatchString(f.Name):
			return nil, garbled("the name %q of a result file", oneLine(f.Name, 100))
		case seen[f.Name]:
			return nil, garbled("two result files %q", f.Name)
		case f.Size < 0:
			return nil, garbled("result file %s has %d bytes", f.Name, f.Size)
		case !ok || err != nil || len(raw) != sha256.Size:
			return nil, garbled("the checksum %q of result file %s", oneLine(f.Checksum, 100), f.Name)
		}
		seen[f.Name] = true
		files[i] = File{f.Name, f.Size, hex.EncodeToString(raw)}
	}
	return files, nil
}

// slowest is the lowest accepted rate of a result file, in bytes a second.
const slowest = 256 << 10

// Download writes a result file to w and checks its size and checksum. It returns
// an error of w unchanged.
func (c *Client) Download(ctx context.Context, run Run, f File, w io.Writer) error {
	life := c.timeout + time.Duration(f.Size/slowest)*time.Second
	loading, cancel := context.WithTimeout(ctx, life)
	defer cancel()
	path := append([]string{"runs", run.ID, "results"}, strings.Split(f.Name, "/")...)
	response, err := c.send(loading, http.MethodGet, run.BaseURL, path, nil, nil)
	if err != nil {
		return whose(ctx, err)
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswer)) // only for its message
		return answered(response.StatusCode, text)
	}
	sum := sha256.New()
	body := &source{r: io.LimitReader(response.Body, f.Size+1)}
	n, err := io.Copy(io.MultiWriter(sum, w), body)
	switch {
	case body.err != nil:
		return whose(ctx, &Unreachable{body.err})
	case err != nil:
		return err
	case n != f.Size:
		return garbled("result file %s has not the %d bytes that were listed", f.Name, f.Size)
	case hex.EncodeToString(sum.Sum(nil)) != f.SHA256:
		return garbled("result file %s does not match its checksum", f.Name)
	}
	return nil
}

// source keeps a read error, which is the engine's and not the store's.
type source struct {
	r   io.Reader
	err error
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}
