package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"netsim/infra/wait"
	"netsim/runs/execution"
)

// fetching returns the HTTP client for input files. It follows no redirects.
func fetching() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{ResponseHeaderTimeout: 30 * time.Second, DisableCompression: true, MaxIdleConnsPerHost: 8},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// fetchable returns the reason why the files of an order cannot be fetched, "" if
// they can.
func fetchable(o *execution.Order, most int64) string {
	seen := map[string]bool{}
	for _, f := range o.Inputs() {
		link, err := url.Parse(f.URL)
		switch {
		case !filepath.IsLocal(f.Name) || strings.ContainsAny(f.Name, "/\\\x00") || len(f.Name) > 255:
			return fmt.Sprintf("file %.100q: the name is none of a file", f.Name)
		case seen[f.Name]:
			return fmt.Sprintf("file %s is there twice", f.Name)
		case err != nil || link.Scheme != "http" && link.Scheme != "https" || link.Host == "":
			return fmt.Sprintf("file %s: the url is no http or https link", f.Name)
		case f.Size < 0:
			return fmt.Sprintf("file %s: the size is %d", f.Name, f.Size)
		case f.Size > most:
			return fmt.Sprintf("the files have more than the %d bytes that a run may have here", most)
		}
		most -= f.Size
		seen[f.Name] = true
	}
	return ""
}

// fetchAll fetches the files of an order, and returns their total size in bytes.
func (h *Host) fetchAll(ctx context.Context, o *execution.Order, dir *os.Root) (size int64, err error) {
	for _, f := range o.Inputs() {
		pauses := wait.Doubling(time.Second, 2*time.Second)
		for attempt := 1; ; attempt++ {
			err := h.fetch(ctx, f, dir)
			if err == nil {
				break
			}
			if attempt == 3 || ctx.Err() != nil || !errors.As(err, new(transient)) {
				return size, err
			}
			if err := wait.For(ctx, pauses.NextBackOff()); err != nil {
				return size, err
			}
		}
		size += f.Size
	}
	return size, nil
}

// transient is an error that may not occur in another attempt.
type transient struct{ error }

// fetch fetches a file and checks its size and hash. Its errors do not show the
// link, which is a secret.
func (h *Host) fetch(ctx context.Context, f execution.File, dir *os.Root) error {
	ctx, cancel := context.WithTimeout(ctx, h.config.FetchWithin)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL, nil)
	if err != nil {
		return fmt.Errorf("file %s: the url is no http or https link", f.Name)
	}
	answer, err := h.client.Do(request)
	if err != nil {
		return transient{fmt.Errorf("file %s: its store does not answer", f.Name)}
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	switch {
	case answer.StatusCode >= http.StatusInternalServerError:
		return transient{fmt.Errorf("file %s: its store answers %d", f.Name, answer.StatusCode)}
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("file %s: its store answers %d", f.Name, answer.StatusCode)
	}
	file, err := dir.Create(f.Name)
	if err != nil {
		return fmt.Errorf("file %s: it cannot be written", f.Name)
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(file, sum), io.LimitReader(answer.Body, f.Size+1))
	if closing := file.Close(); err == nil {
		err = closing
	}
	switch {
	case err != nil:
		return transient{fmt.Errorf("file %s: it came only in part", f.Name)}
	case n != f.Size:
		return fmt.Errorf("file %s does not have the %d bytes of the order", f.Name, f.Size)
	case f.Hash != "sha256:"+hex.EncodeToString(sum.Sum(nil)):
		return fmt.Errorf("file %s does not match its hash", f.Name)
	}
	return nil
}
