package netsim

import (
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // the entity tag of an object store is an MD5 sum
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"

	"netsim/sdk/go/api"
)

// partBytes is the size of each part of a file but the last.
const partBytes = 16 << 20

// File is a file of a traceset to upload.
type File struct {
	api.UploadFile // its name, and its size in bytes
	Content        io.ReaderAt
}

// upload is the state of an upload: its session, and the entity tag of each stored part.
type upload struct {
	Session api.TracesetUploadSession `json:"session"`
	Stored  map[string][]string       `json:"stored"` // by file
}

// Upload uploads a traceset in parts and completes it. The Files of traceset are those of files.
//
// After each part it saves its state in the store. A call with the same store and files goes on
// there: parts that are stored with the same content are not sent again. It begins again if the
// session is over. The state contains links that anyone may use until then. Each part is sent
// with its checksum, and the hashes of the traceset's files are compared with what was read.
//
// The traceset is what the completion answered; its files are looked at next, so its status
// changes.
func (c *Client) Upload(ctx context.Context, traceset api.TracesetUpload, files []File, store Store) (*api.Traceset, error) {
	traceset.Files = nil
	for _, f := range files {
		traceset.Files = append(traceset.Files, f.UploadFile)
	}
	before, err := store.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("load the state of the upload: %w", err)
	}
	whole, err := c.upload(ctx, before, traceset, files, store)
	if before != "" && (errors.Is(err, ErrNotFound) || errors.Is(err, errLink)) {
		whole, err = c.upload(ctx, "", traceset, files, store)
	}
	if err != nil {
		return nil, err
	}
	return whole, store.Save(ctx, "")
}

func (c *Client) upload(ctx context.Context, state string, traceset api.TracesetUpload, files []File, store Store) (*api.Traceset, error) {
	u, err := c.session(ctx, state, traceset, store)
	if err != nil {
		return nil, err
	}
	hashes := map[string]string{}
	completion := api.TracesetUploadCompletion{UploadID: u.Session.UploadID}
	for i, links := range u.Session.Files {
		if i >= len(files) || links.Name != files[i].Name {
			return nil, fmt.Errorf("the store has the state of an upload of other files: %s", links.Name)
		}
		if hashes[links.Name], err = c.uploadFile(ctx, u, files[i], links.Parts, store); err != nil {
			return nil, fmt.Errorf("upload %s: %w", links.Name, err)
		}
		done := api.UploadedFile{Name: links.Name}
		for n, tag := range u.Stored[links.Name] {
			done.Parts = append(done.Parts, api.UploadedPart{PartNumber: links.Parts[n].PartNumber, Etag: tag})
		}
		completion.Files = append(completion.Files, done)
	}
	whole, err := c.CompleteTracesetUpload(ctx, nil, completion)
	if err != nil {
		return nil, err
	}
	for _, f := range whole.Files {
		if sent, ok := hashes[f.Name]; ok && f.Hash != "" && f.Hash != sent {
			return nil, fmt.Errorf("file %s of traceset %s has the hash %s; what was sent has %s", f.Name, whole.ID, f.Hash, sent)
		}
	}
	return whole, nil
}

// session returns the upload of a state, or opens one.
func (c *Client) session(ctx context.Context, state string, traceset api.TracesetUpload, store Store) (*upload, error) {
	u := &upload{Stored: map[string][]string{}}
	if state != "" {
		if err := json.Unmarshal([]byte(state), u); err != nil {
			return nil, fmt.Errorf("the state of the upload: %w", err)
		}
		return u, nil
	}
	opened, err := c.OpenTracesetUpload(ctx, nil, traceset)
	if err != nil {
		return nil, err
	}
	u.Session = *opened
	return u, u.save(ctx, store)
}

func (u *upload) save(ctx context.Context, store Store) error {
	text, err := json.Marshal(u)
	if err != nil {
		return err
	}
	return store.Save(ctx, string(text))
}

// uploadFile sends the parts of a file that are not stored yet, and returns the hash of it.
func (c *Client) uploadFile(ctx context.Context, u *upload, file File, parts []api.PartLink, store Store) (string, error) {
	hash := sha256.New()
	content := io.NewSectionReader(file.Content, 0, file.Size)
	buffer := make([]byte, min(partBytes, file.Size))
	for n, part := range parts {
		size, err := io.ReadFull(content, buffer)
		if err != nil && !(n == len(parts)-1 && errors.Is(err, io.ErrUnexpectedEOF)) {
			return "", fmt.Errorf("read part %d: %w", part.PartNumber, err)
		}
		hash.Write(buffer[:size])
		sum := md5.Sum(buffer[:size]) //nolint:gosec // see above
		stored := u.Stored[file.Name]
		if n < len(stored) && strings.Trim(stored[n], `"`) == hex.EncodeToString(sum[:]) {
			continue
		}
		checksum := http.Header{"Content-Md5": {base64.StdEncoding.EncodeToString(sum[:])}}
		response, err := c.transport.object(ctx, http.MethodPut, part.URL, checksum, buffer[:size])
		if err != nil {
			return "", fmt.Errorf("part %d: %w", part.PartNumber, err)
		}
		_ = response.Body.Close()
		u.Stored[file.Name] = append(stored[:min(n, len(stored))], response.Header.Get("ETag"))
		if err := u.save(ctx, store); err != nil {
			return "", err
		}
	}
	return "sha256:" + hex.EncodeToString(hash.Sum(nil)), nil
}

// errLink is that the object store refuses a link, such as one that has expired.
var errLink = errors.New("the object store refused the link")

// object sends a request to the object store, again if it gets lost. A link needs no token.
func (t *transport) object(ctx context.Context, method, link string, header http.Header, content []byte) (*http.Response, error) {
	for attempt := 0; ; attempt++ {
		r, err := http.NewRequestWithContext(ctx, method, link, bytes.NewReader(content))
		if err != nil {
			return nil, err
		}
		maps.Copy(r.Header, header)
		response, err := t.http.Do(r)
		if err == nil {
			if response.StatusCode == http.StatusOK {
				return response, nil
			}
			text, _ := io.ReadAll(io.LimitReader(response.Body, 4096))
			_ = response.Body.Close()
			err = fmt.Errorf("the object store answered %s: %s", response.Status, text)
			if response.StatusCode == http.StatusForbidden || response.StatusCode == http.StatusNotFound {
				return nil, fmt.Errorf("%w: %w", errLink, err)
			}
		}
		if attempt >= t.retries || sleep(ctx, backoff(attempt)) != nil {
			return nil, err
		}
	}
}
