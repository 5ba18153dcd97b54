package writeapi_test

import (
	"bytes"
	"mime/multipart"
	"net/textproto"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
)

// field is a part of a form. It is a file if file, its file name, is not empty.
type field struct{ name, file, content string }

func formOf(t *testing.T, fields ...field) (body []byte, contentType servicetest.Header) {
	t.Helper()
	size := 0
	for _, f := range fields {
		size += len(f.content) + 1024
	}
	text := bytes.NewBuffer(make([]byte, 0, size))
	form := multipart.NewWriter(text)
	for _, f := range fields {
		header := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="` + f.name + `"`}}
		if f.file != "" {
			header["Content-Disposition"][0] += `; filename="` + f.file + `"`
			header["Content-Type"] = []string{"text/plain"}
		}
		part, err := form.CreatePart(header)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write([]byte(f.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	return text.Bytes(), servicetest.Header{Name: "Content-Type", Value: form.FormDataContentType()}
}

// uploadDirectly uploads a form to POST /tracesets.
func uploadDirectly(t *testing.T, c *servicetest.Client, workspace string, headers []servicetest.Header, fields ...field) servicetest.Reply {
	t.Helper()
	body, contentType := formOf(t, fields...)
	return c.Do("POST", tracesets+"?workspaceId="+workspace, body, append(headers, contentType)...)
}

func TestUploadATracesetDirectly(t *testing.T) {
	t.Parallel()
	p, account, workspace, user := newUploader(t)
	first, groups := field{"file", "ring.0.et", "first"}, field{"file", "comm_groups.json", "{}"}
	reply := uploadDirectly(t, user, workspace, nil,
		field{"tags", "", "a"}, first, field{"description", "", "of a test"}, groups, field{"tags", "", "b"}, field{"ttlDays", "", "3"},
		field{"workloadMetadata", "", `{"workloadFamily": "ring"}`}).Want(201)
	got := reply.Object()
	id := got["id"].(string)
	if reply.Header.Get("Location") != tracesets+"/"+id {
		t.Errorf("got the Location %s, want that of the traceset", reply.Header.Get("Location"))
	}
	want := object{"name": "ring.0", "description": "of a test", "tags": []any{"a", "b"}, "totalSize": 7.0, "workspaceId": workspace,
		"scope": "workspace", "workloadMetadata": object{"workloadFamily": "ring", "schemaVersion": 1.0}}
	for name, value := range want {
		if diff := cmp.Diff(value, got[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for i, want := range []object{
		{"name": "ring.0.et", "contentType": "text/plain", "hash": "sha256:" + hexSHA("first"), "size": 5.0, "role": "primary"},
		{"name": "comm_groups.json", "contentType": "text/plain", "hash": "sha256:" + hexSHA("{}"), "size": 2.0, "role": "supporting"},
	} {
		file := got["files"].([]any)[i].(object)
		delete(file, "metadataStatus")
		if diff := cmp.Diff(want, file); diff != "" {
			t.Errorf("file %d (-want +got):\n%s", i, diff)
		}
		sum := strings.TrimPrefix(want["hash"].(string), "sha256:")
		library := events.DerivedID(events.LibraryPrefix, got["libraryHash"].(string))
		if content := download(t, p, "libraries/"+library+"/"+sum[:2]+"/"+sum[2:]); float64(len(content)) != want["size"] {
			t.Errorf("stored object: got %q, want the uploaded file", content)
		}
	}

	// The same files under the same name are the same traceset, in any order. With
	// another name, workspace or account they are another traceset.
	again := uploadDirectly(t, user, workspace, nil, groups, first, field{"name", "", "ring.0"}).Want(200).Object()
	if again["id"] != id || again["description"] != "of a test" {
		t.Errorf("repeated upload: got %v, want the first traceset", again)
	}
	ids := map[any]bool{id: true}
	ids[uploadDirectly(t, user, workspace, nil, first, groups, field{"name", "", "other"}).Want(201).Object()["id"]] = true
	ids[uploadDirectly(t, user, events.DefaultWorkspace, nil, first, groups).Want(201).Object()["id"]] = true
	ids[uploadDirectly(t, p.User(t, servicetest.NewAccount()), events.DefaultWorkspace, nil, first, groups).Want(201).Object()["id"]] = true
	user.Delete(tracesets + "/" + id).Want(204)
	ids[uploadDirectly(t, user, workspace, nil, first, groups).Want(201).Object()["id"]] = true
	if len(ids) != 5 {
		t.Errorf("got %d tracesets, want 5", len(ids))
	}

	k := []servicetest.Header{key("k")}
	once := uploadDirectly(t, user, workspace, k, first).Want(201).Object()["id"]
	if again := uploadDirectly(t, user, workspace, k, first).Want(201).Object()["id"]; again != once {
		t.Errorf("one key made the tracesets %v and %v", once, again)
	}
	uploadDirectly(t, user, workspace, k, groups).Refused(422, "UNPROCESSABLE_ENTITY")

	uploadDirectly(t, user, events.NewID(events.WorkspacePrefix), nil, first).Refused(404, "NOT_FOUND")
	uploadDirectly(t, p.User(t, account, events.NewID(events.WorkspacePrefix)), workspace, nil, first).Refused(403, "FORBIDDEN")
	uploadDirectly(t, p.Client(t, devissuer.Options{Service: true, User: "robot", Account: "*"}), workspace, nil, first).Refused(403, "FORBIDDEN")
}

func TestDirectUploadsAreRefused(t *testing.T) {
	t.Parallel()
	_, _, workspace, user := newUploader(t)
	file := field{"file", "a.0.et", "x"}
	for want, fields := range map[string][]field{
		"file is required":                          {{"name", "", "set"}},
		"colour is unknown":                         {{"colour", "", "red"}, file},
		"name is given twice":                       {{"name", "", "a"}, {"name", "", "b"}, file},
		"name must be":                              {{"name", "", " a"}, file},
		"ttlDays must be an integer, got 'x'":       {{"ttlDays", "", "x"}, file},
		"ttlDays must be between 1 and 365, got 0":  {file, {"ttlDays", "", "0"}},
		"tags must have at most 50 items":           append(make([]field, 0), append(tagged(51), file)...),
		"workloadMetadata: the request body is not": {{"workloadMetadata", "", "{"}, file},
		"workloadMetadata must be an object":        {{"workloadMetadata", "", "[]"}, file},
		"workloadMetadata.colour is unknown":        {{"workloadMetadata", "", `{"colour": 1}`}, file},
		"description must have at most":             {{"description", "", longName(2049)}, file},
		"description must be utf-8":                 {{"description", "", "\xff"}, file},
		"got '../a.0.et'":                           {{"file", "../a.0.et", "x"}},
		"got '/etc/passwd'":                         {{"file", "/etc/passwd", "x"}},
		"got 'a..et'":                               {{"file", "a..et", "x"}},
		"without '..' and not '.', got ''":          {{"file", "", "x"}},
		"file 'a.0.et' is given twice":              {file, file},
		"is the template workspace":                 nil,
	} {
		to := workspace
		if fields == nil {
			to, fields, want = events.TemplateWorkspace, []field{file}, "template workspace"
		}
		if message := uploadDirectly(t, user, to, nil, fields...).Refused(400, "VALIDATION_ERROR"); !strings.Contains(message, want) {
			t.Errorf("got the message %q, want %q in it", message, want)
		}
	}
	body, form := formOf(t, file)
	user.Do("POST", tracesets, body, form).Refused(400, "VALIDATION_ERROR")
	for what, cut := range map[string][]byte{"nothing": {}, "no end": body[:len(body)-8], "no part": body[:20], "no form": []byte("x")} {
		if reply := user.Do("POST", tracesets+"?workspaceId="+workspace, cut, form); reply.Status != 400 {
			t.Errorf("%s: got %d %s, want 400", what, reply.Status, reply.Body)
		}
	}
	for _, contentType := range []string{"application/json", "multipart/form-data", "multipart/mixed; boundary=x", "text/plain"} {
		user.Do("POST", tracesets+"?workspaceId="+workspace, body, servicetest.Header{Name: "Content-Type", Value: contentType}).
			Refused(415, "UNSUPPORTED_MEDIA_TYPE")
	}
}

func tagged(n int) []field {
	tags := make([]field, n)
	for i := range tags {
		tags[i] = field{"tags", "", "x"}
	}
	return tags
}

// The files may have 100,000,000 bytes together. The whole body has a separate
// limit.
func TestDirectUploadsAreBounded(t *testing.T) {
	t.Parallel()
	p, _, workspace, user := newUploader(t)
	const half = 50_000_000
	content := strings.Repeat("x", half)
	message := uploadDirectly(t, user, workspace, nil, field{"file", "a.0.et", content}, field{"file", "a.1.et", content + "x"}).Refused(413, "PAYLOAD_TOO_LARGE")
	if !strings.Contains(message, "more than 100000000 bytes together") {
		t.Errorf("got the message %q, want the limit of all files", message)
	}
	message = uploadDirectly(t, user, workspace, nil, field{"file", "a.0.et", content + content[:2<<20]}, field{"file", "a.1.et", content}).Refused(413, "PAYLOAD_TOO_LARGE")
	if !strings.Contains(message, "the request body is larger than 101000000 bytes") {
		t.Errorf("got the message %q, want the limit of the body", message)
	}
	made := uploadDirectly(t, user, workspace, nil, field{"file", "a.0.et", content}, field{"file", "a.1.et", content}).Want(201).Object()
	if made["totalSize"] != 100_000_000.0 {
		t.Errorf("got the size %v, want 100000000", made["totalSize"])
	}
	for o, err := range storeOf(p).List(t.Context(), "staging/") {
		if err != nil {
			t.Fatal(err)
		}
		if o.Size > half/2 {
			t.Errorf("the object %s is still staged", o.Key)
		}
	}
}
