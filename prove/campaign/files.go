package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// link is a presigned URL for a part of a file.
type link struct {
	PartNumber int
	URL        string
}

// uploadFiles uploads tracesets and mapping files, reads them, and deletes some.
func (c *client) uploadFiles(ctx context.Context) {
	for c.think(ctx, time.Second) {
		var id, path string
		if c.random.IntN(2) == 0 {
			id, path = c.uploadMapping(ctx), "/api/v1/mapping-files/"
		} else {
			id, path = c.uploadTraceset(ctx), "/api/v1/tracesets/"
		}
		if id == "" {
			continue
		}
		c.reads(ctx, request{name: "read file", method: "GET", path: path + id}, http.StatusOK)
		c.reads(ctx, request{name: "list files", method: "GET", path: strings.TrimSuffix(path, "/") + "?workspaceId=" + c.home}, http.StatusOK)
		if c.random.IntN(4) == 0 {
			c.deleteResource(ctx, path, id, http.StatusNoContent)
		}
	}
}

func (c *client) uploadMapping(ctx context.Context) string {
	var text strings.Builder
	for rank := range 8 + c.random.IntN(56) {
		fmt.Fprintf(&text, "%d, %d\n", rank, 8*rank+c.random.IntN(8))
	}
	content := []byte(text.String() + "# " + c.unique("mapping") + "\n")
	var session struct {
		UploadID string
		Parts    []link
	}
	open := request{name: "open upload", method: "POST", path: "/api/v1/mapping-files/upload-url", body: map[string]any{
		"name": c.unique("mapping"), "workspaceId": c.home, "sizeBytes": len(content),
	}}
	if !c.session(ctx, open, &session) {
		return ""
	}
	parts, ok := c.put(ctx, session.Parts, content)
	if !ok {
		return ""
	}
	return c.complete(ctx, "/api/v1/mapping-files/upload-url/complete", map[string]any{"uploadId": session.UploadID, "parts": parts}, "mapping file", content)
}

// uploadTraceset uploads a traceset of two files whose content nobody else has.
func (c *client) uploadTraceset(ctx context.Context) string {
	names := []string{"rank_0.chakra.json", "rank_1.chakra.json"}
	contents := make([][]byte, len(names))
	files := make([]map[string]any, len(names))
	for i, name := range names {
		contents[i] = []byte(`{"version": "0.0.4"}{"name": "` + c.unique("node") + `", "type": "COMM_COLL_NODE", "attr": [
			{"name": "is_cpu_op", "boolVal": false}, {"name": "comm_type", "int64Val": "0"}, {"name": "comm_size", "int64Val": "1048576"}]}`)
		files[i] = map[string]any{"name": name, "size": len(contents[i])}
	}
	var session struct {
		UploadID string
		Files    []struct {
			Name  string
			Parts []link
		}
	}
	open := request{name: "open upload", method: "POST", path: "/api/v1/tracesets/upload-url", body: map[string]any{
		"name": c.unique("traceset"), "workspaceId": c.home, "files": files, "ttlDays": 3,
	}}
	if !c.session(ctx, open, &session) {
		return ""
	}
	var put []map[string]any
	for i, f := range session.Files {
		parts, ok := c.put(ctx, f.Parts, contents[i])
		if !ok {
			return ""
		}
		put = append(put, map[string]any{"name": f.Name, "parts": parts})
	}
	return c.complete(ctx, "/api/v1/tracesets/upload-url/complete", map[string]any{"uploadId": session.UploadID, "files": put}, "traceset", nil)
}

func (c *client) session(ctx context.Context, open request, into any) bool {
	got := c.changes(ctx, open, http.StatusOK)
	if !got.ok() {
		return false
	}
	if err := json.Unmarshal(got.body, into); err != nil {
		c.violate("%s was answered with %.200s", open.path, got.body)
		return false
	}
	return true
}

// put sends a file to the object store as one part, a few times.
func (c *client) put(ctx context.Context, links []link, content []byte) ([]map[string]any, bool) {
	if len(links) != 1 {
		c.violate("an upload of %d bytes has %d parts", len(content), len(links))
		return nil, false
	}
	for range 10 {
		r, err := http.NewRequestWithContext(ctx, http.MethodPut, links[0].URL, bytes.NewReader(content))
		if err != nil {
			c.violate("the link %q of an upload: %v", links[0].URL, err)
			return nil, false
		}
		got, err := c.http.Do(r)
		if err == nil {
			tag := got.Header.Get("ETag")
			_, err = io.Copy(io.Discard, got.Body)
			_ = got.Body.Close()
			if err == nil && got.StatusCode == http.StatusOK {
				return []map[string]any{{"partNumber": links[0].PartNumber, "etag": tag}}, true
			}
		}
		if !c.think(ctx, 500*time.Millisecond) {
			return nil, false
		}
	}
	return nil, false
}

func (c *client) complete(ctx context.Context, path string, body map[string]any, kind string, content []byte) string {
	r := request{name: "upload " + kind, method: "POST", path: path, body: body}
	got := c.do(ctx, r)
	if !got.ok() {
		// A store that does not answer ends a session: the first attempt is answered with
		// 503, and its repeats say that the session has ended. On a slow machine the first
		// attempt may still be under way.
		over := got.retried && slices.ContainsFunc([]string{"is aborted", "has failed (storage)", "being completed by another request"},
			func(text string) bool { return strings.Contains(string(got.body), text) })
		if !got.unknown() && !over {
			c.unexpected(r, got)
		}
		return ""
	}
	id := got.text("id")
	c.made.add(id, &resource{kind: kind, account: c.account, content: content})
	return id
}
