package service_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"mime/multipart"
	"slices"
	"strings"
	"testing"

	"netsim/internal/servicetest"
)

// TestProcessGroupsInEveryForm: comm_groups.json is accepted beside rank files, beside an
// archive, inside an archive, and in one request. A traceset without nodes fails in every
// form.
func TestProcessGroupsInEveryForm(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	p.Grant(t, account, "1000")
	user, service := p.User(t, account), p.Service(t, account)
	const head = `{"version":"0.0.4"}`
	const node = `{"id":"1","type":"COMM_COLL_NODE","attr":[{"name":"comm_type","int64Val":"0"},{"name":"comm_size","int64Val":"1000"},{"name":"pg_name","stringVal":"both"}]}`
	groups := traceFile{"comm_groups.json", []byte(`{"both":[0,1]}`)}
	ranks := func(content string) (files []traceFile) {
		for rank := range 2 {
			files = append(files, traceFile{fmt.Sprintf("rank_%d.chakra.json", rank), []byte(head + content)})
		}
		return files
	}
	packed := func(files ...traceFile) traceFile {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, f := range files {
			if err := w.WriteHeader(&tar.Header{Name: "job/" + f.name, Mode: 0o600, Size: int64(len(f.content))}); err != nil {
				t.Fatal(err)
			}
			_, _ = w.Write(f.content)
		}
		_ = w.Close()
		return traceFile{"job.tar", b.Bytes()}
	}
	both := append(ranks(node), groups)
	for name, c := range map[string]struct {
		files  []traceFile
		form   bool
		status string
		reason string
	}{
		"beside rank files":          {both, false, "ready", ""},
		"beside an archive":          {[]traceFile{packed(ranks(node)...), groups}, false, "ready", ""},
		"in an archive":              {[]traceFile{packed(both...)}, false, "ready", ""},
		"in one request":             {both, true, "ready", ""},
		"an archive in one request":  {[]traceFile{packed(ranks(node)...), groups}, true, "ready", ""},
		"empty":                      {ranks(""), false, "metadata_failed", "the traceset is empty: no rank file has a node"},
		"empty in one request":       {ranks(""), true, "metadata_failed", "the traceset is empty: no rank file has a node"},
		"groups alone in an archive": {[]traceFile{packed(groups)}, false, "metadata_failed", "the traceset is empty: it has no rank file"},
		"groups alone":               {[]traceFile{groups}, false, "metadata_failed", "the traceset is empty: it has no rank file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJourney(t, user)
			j.Workspace = service.Post("/api/v1/workspaces", object{"name": name}).Want(201).Text("id")
			if c.form {
				j.traceset = j.inOneRequest(c.files)
			} else {
				j.traceset = j.upload(slices.Clone(c.files))
			}
			made := user.Eventually("/api/v1/tracesets/"+j.traceset, func(r servicetest.Reply) bool { return r.Want(200).Object()["status"] != "processing" })
			if made.Object()["status"] != c.status || !strings.Contains(string(made.Body), c.reason) {
				t.Errorf("got %s, want %s with %q", made.Body, c.status, c.reason)
			}
		})
	}
}

// inOneRequest uploads a traceset as one form.
func (j *journey) inOneRequest(files []traceFile) string {
	j.T.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	for _, f := range files {
		part, err := w.CreateFormFile("file", f.name)
		if err != nil {
			j.T.Fatal(err)
		}
		_, _ = part.Write(f.content)
	}
	_ = w.WriteField("name", "in one request")
	_ = w.Close()
	return j.Client.Post("/api/v1/tracesets?workspaceId="+j.Workspace, form.Bytes(),
		servicetest.Header{Name: "Content-Type", Value: w.FormDataContentType()}).Want(201).Text("id")
}
