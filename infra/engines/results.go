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
	Name   string // such as path/with/slashes.csv
	Size   int64  // bytes
	SHA256 string // hex
}

const (
	maxFiles = 10_000
	maxName  = 512 // bytes
)

var fileName = regexp.MustCompile(`^[A-Za-z0-9._/-]+$`)

// Results lists the result files of a run that has ended. For a run that has not
// ended the error is Answered with status 409.
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
			return nil, garbled("the name %q of a result file is not valid", oneLine(f.Name, 100))
		case seen[f.Name]:
			return nil, garbled("two result files have the name %q", f.Name)
		case f.Size < 0:
			return nil, garbled("result file %s has %d bytes", f.Name, f.Size)
		case !ok || err != nil || len(raw) != sha256.Size:
			return nil, garbled("the checksum %q of result file %s is not valid", oneLine(f.Checksum, 100), f.Name)
		}
		seen[f.Name] = true
		files[i] = File{f.Name, f.Size, hex.EncodeToString(raw)}
	}
	return files, nil
}

// minRate is the lowest accepted download rate of a result file, in bytes a second.
const minRate = 256 << 10

// Download writes a result file to w and checks its size and checksum. If w returns
// an error, Download returns it unchanged.
func (c *Client) Download(ctx context.Context, run Run, f File, w io.Writer) error {
	timeout := c.timeout + time.Duration(f.Size/minRate)*time.Second
	loading, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	path := append([]string{"runs", run.ID, "results"}, strings.Split(f.Name, "/")...)
	response, err := c.send(loading, http.MethodGet, run.BaseURL, path, nil, nil)
	if err != nil {
		return callerError(ctx, err)
	}
	defer response.Body.Close() //nolint:errcheck // the body is only read
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswer)) // read for the error's message only
		return answered(response.StatusCode, text)
	}
	sum := sha256.New()
	body := &source{r: io.LimitReader(response.Body, f.Size+1)}
	n, err := io.Copy(io.MultiWriter(sum, w), body)
	switch {
	case body.err != nil:
		return callerError(ctx, &Unreachable{body.err})
	case err != nil:
		return err
	case n != f.Size:
		return garbled("result file %s does not have the %d bytes that were listed", f.Name, f.Size)
	case hex.EncodeToString(sum.Sum(nil)) != f.SHA256:
		return garbled("result file %s does not match its checksum", f.Name)
	}
	return nil
}

// source keeps the read error, to distinguish it from an error of the writer.
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
