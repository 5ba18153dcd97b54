package writeapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"netsim/cmd/settings"
	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
)

func TestOpeningATracesetsUploadIsRefused(t *testing.T) {
	t.Parallel()
	p, account, workspace, user := newUploader(t)
	files := func(names ...string) []object {
		var list []object
		for _, name := range names {
			list = append(list, object{"name": name, "size": 1})
		}
		return list
	}
	body := object{"name": "set", "workspaceId": workspace, "files": files("a.0.et")}
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprintf("a.%d.et", i)
	}
	huge := make([]object, 4)
	for i := range huge {
		huge[i] = object{"name": many[i], "size": 50_000_000_000}
	}
	for want, changes := range map[string]object{
		"files[0].name must be 1 to 255 letters":                 {"files": files("../a.0.et")},
		"without '..'":                                           {"files": files("a..et")},
		"and not '.'":                                            {"files": files(".")},
		"got 'a/b'":                                              {"files": files("a/b")},
		"got 'ä'":                                                {"files": files("ä")},
		"files[1].name 'a.0.et' is given twice":                  {"files": files("a.0.et", "a.0.et")},
		"files must have at most 100 items, got 101":             {"files": files(many...)},
		"files must have at least 1 item":                        {"files": []object{}},
		"need 11924 parts of 16 MiB; at most 10000":              {"files": huge},
		"files[0].size must be between 1 and 50000000000, got 0": {"files": []object{{"name": "a", "size": 0}}},
		"between 1 and 50000000000, got 50000000001":             {"files": []object{{"name": "a", "size": 50_000_000_001}}},
		"files[0].role must be one of [primary, supporting]":     {"files": []object{{"name": "a", "size": 1, "role": "other"}}},
		"files[0].contentType must":                              {"files": []object{{"name": "a", "size": 1, "contentType": "a\nb"}}},
		"description must":                                       {"description": longName(2049)},
		"tags must have at most 50 items":                        {"tags": make([]string, 51)},
		"tags[0] must":                                           {"tags": []string{""}},
		"ttlDays must be between 1 and 365, got 366":             {"ttlDays": 366},
		"workloadMetadata.colour is unknown":                     {"workloadMetadata": object{"colour": 1}},
		"workloadMetadata.shape.rankCount must be between 1 and": {"workloadMetadata": object{"shape": object{"rankCount": 0}}},
		"workloadMetadata must be at most 65536 bytes":           {"workloadMetadata": object{"extensions": object{"x": longName(65536)}}},
		"must not be the template workspace":                     {"workspaceId": events.TemplateWorkspace},
		"workspaceId must":                                       {"workspaceId": "research"},
		"name must":                                              {"name": " set"},
	} {
		if message := user.Post(openTraceset, with(body, changes)).Refused(400, "VALIDATION_ERROR"); !strings.Contains(message, want) {
			t.Errorf("got the message %q, want %q in it", message, want)
		}
	}
	user.Post(openTraceset, with(body, object{"workspaceId": events.NewID(events.WorkspacePrefix)})).Refused(404, "NOT_FOUND")
	p.User(t, servicetest.NewAccount()).Post(openTraceset, body).Refused(404, "NOT_FOUND")
	p.User(t, account, events.NewID(events.WorkspacePrefix)).Post(openTraceset, body).Refused(403, "FORBIDDEN")
	p.Client(t, devissuer.Options{Service: true, User: "robot", Account: "*"}).Post(openTraceset, body).Refused(403, "FORBIDDEN")
	var s session
	user.Post(openTraceset, object{"name": "set", "files": files("a.0.et")}).Want(200).Into(&s)
	if made := user.Post(completeTraceset, s.completion(t, "x")).Want(201).Object(); made["workspaceId"] != events.TracesetWorkspace {
		t.Errorf("got the workspace %v, want the one for tracesets", made["workspaceId"])
	}
}

func TestOpeningAMappingFilesUploadIsRefused(t *testing.T) {
	t.Parallel()
	p, account, workspace, user := newUploader(t)
	body := object{"workspaceId": workspace, "sizeBytes": 1}
	for want, changes := range map[string]object{
		"name must be 1 to 255 letters":         {"name": "../x"},
		"got 'a..b'":                            {"name": "a..b"},
		"got '.'":                               {"name": "."},
		"got 'a b'":                             {"name": "a b"},
		"got ''":                                {"name": ""},
		"sizeBytes must be between 1 and":       {"sizeBytes": 0},
		"and 64000000, got 64000001":            {"sizeBytes": 64_000_001},
		"workspaceId must":                      {"workspaceId": " " + workspace},
		"workspaceId must be the id":            {"workspaceId": ""},
		"description must":                      {"description": longName(2049)},
		"must not be the template workspace":    {"workspaceId": events.TemplateWorkspace},
		"name must be 1 to 255 letters, digits": {"name": longName(256)},
	} {
		if message := user.Post(openMappingFile, with(body, changes)).Refused(400, "VALIDATION_ERROR"); !strings.Contains(message, want) {
			t.Errorf("got the message %q, want %q in it", message, want)
		}
	}
	user.Post(openMappingFile, with(body, object{"workspaceId": "nowhere"})).Refused(404, "NOT_FOUND")
	p.User(t, account, events.NewID(events.WorkspacePrefix)).Post(openMappingFile, body).Refused(403, "FORBIDDEN")
}

// After a completion was refused with 400, the client can correct it and complete
// the same session.
func TestCompletingATracesetsUploadIsRefused(t *testing.T) {
	t.Parallel()
	p, account, workspace, user := newUploader(t)
	large := strings.Repeat("x", 16<<20) + "end"
	s := openFiles(t, user, workspace, [2]string{"a.0.et", large}, [2]string{"a.1.et", "second"})
	completion := s.completion(t, large, "second")
	first, second := completion["files"].([]object)[0]["parts"].([]object), completion["files"].([]object)[1]["parts"].([]object)
	files := func(list ...object) object {
		return object{"uploadId": s.UploadID, "files": append([]object{}, list...)}
	}
	file := func(name string, parts ...object) object {
		return object{"name": name, "parts": append([]object{}, parts...)}
	}
	a, b := file("a.0.et", first...), file("a.1.et", second...)
	tag := func(p object, etag string) object { return with(p, object{"etag": etag}) }
	for want, body := range map[string]object{
		"file 'a.1.et' of the session is missing":            files(a),
		"file 'c' is none of the session's":                  files(a, b, file("c", second...)),
		"file 'a.0.et' is given twice":                       files(a, a, b),
		"must be the 2 of the session, got 1":                files(file("a.0.et", first[0]), b),
		"ascending order, got 2 at position 1":               files(file("a.0.et", first[1], first[0]), b),
		"ascending order, got 1 at position 2":               files(file("a.0.et", first[0], first[0]), b),
		"'a.1.et' must be the 1 of the session":              files(a, file("a.1.et", second[0], object{"partNumber": 2, "etag": "x"})),
		"part 1 has another etag than 'x'":                   files(a, file("a.1.et", tag(second[0], "x"))),
		"part 2 has another etag":                            files(file("a.0.et", first[0], tag(first[1], first[0]["etag"].(string))), b),
		"files[0].parts[0].etag must":                        files(file("a.0.et", tag(first[0], ""), first[1]), b),
		"files[0].parts must have between 1 and 10000 items": files(file("a.0.et"), b),
		"files[0].parts[0].partNumber must be betwe":         files(file("a.0.et", with(first[0], object{"partNumber": 0}))),
		"files must have at least 1 item":                    files(),
		"uploadId must be upload_ followed by":               with(completion, object{"uploadId": "x"}),
	} {
		if message := user.Post(completeTraceset, body).Refused(400, "VALIDATION_ERROR"); !strings.Contains(message, want) {
			t.Errorf("got the message %q, want %q in it", message, want)
		}
	}
	for content, want := range map[string]string{"longer than declared": "with 6 bytes and has 20", "short": "with 6 bytes and has 5"} {
		b := file("a.1.et", putParts(t, s.Files[1].Parts, content)...)
		if message := user.Post(completeTraceset, files(a, b)).Refused(400, "VALIDATION_ERROR"); !strings.Contains(message, want) {
			t.Errorf("got the message %q, want %q in it", message, want)
		}
	}
	user.Post(completeTraceset, with(completion, object{"uploadId": events.NewID(events.UploadPrefix)})).Refused(404, "NOT_FOUND")
	p.User(t, servicetest.NewAccount()).Post(completeTraceset, completion).Refused(404, "NOT_FOUND")
	p.User(t, account, events.NewID(events.WorkspacePrefix)).Post(completeTraceset, completion).Refused(403, "FORBIDDEN")
	user.Post(completeMappingFile, object{"uploadId": s.UploadID, "parts": second}).Refused(400, "VALIDATION_ERROR")
	// The last upload of a part counts. Its entity tag is accepted with or without
	// quotes.
	again := putParts(t, s.Files[1].Parts, "SECOND")
	again[0]["etag"] = strings.Trim(again[0]["etag"].(string), `"`)
	made := user.Post(completeTraceset, files(file("a.1.et", again...), a)).Want(201).Object()
	if got := made["files"].([]any)[1].(object)["hash"]; got != "sha256:"+hexSHA("SECOND") {
		t.Errorf("got the hash %v, want that of the last content", got)
	}
}

func TestCompletingAMappingFilesUploadIsRefused(t *testing.T) {
	t.Parallel()
	p, account, workspace, user := newUploader(t)
	s := openMapping(t, user, workspace, "m.txt", 4)
	body := s.mapping(t, "0,0\n")
	part := body["parts"].([]object)[0]
	for want, parts := range map[string][]object{
		"ascending order, got 2 at position 1":      {with(part, object{"partNumber": 2})},
		"parts must be the 1 of the session":        {part, with(part, object{"partNumber": 2})},
		"part 1 has another etag than 'x'":          {with(part, object{"etag": "x"})},
		"parts[0].etag must":                        {with(part, object{"etag": ""})},
		"parts must have between 1 and 10000 items": {},
		"parts[0].partNumber must be between 1 an":  {with(part, object{"partNumber": 10001})},
	} {
		if message := user.Post(completeMappingFile, with(body, object{"parts": parts})).Refused(400, "VALIDATION_ERROR"); !strings.Contains(message, want) {
			t.Errorf("got the message %q, want %q in it", message, want)
		}
	}
	two := openMapping(t, user, workspace, "m.txt", 20<<20)
	unsent := user.Post(completeMappingFile, object{"uploadId": two.UploadID, "parts": []object{part}}).Refused(400, "VALIDATION_ERROR")
	if !strings.Contains(unsent, "part 1 has not been uploaded") {
		t.Errorf("got the message %q, want that part 1 is missing", unsent)
	}
	user.Post(completeMappingFile, with(body, object{"uploadId": events.NewID(events.UploadPrefix)})).Refused(404, "NOT_FOUND")
	p.User(t, account, events.NewID(events.WorkspacePrefix)).Post(completeMappingFile, body).Refused(403, "FORBIDDEN")
	user.Post(completeTraceset, object{"uploadId": s.UploadID, "files": []object{{"name": "m.txt", "parts": []object{part}}}}).Refused(400, "VALIDATION_ERROR")
	user.Post(completeMappingFile, body).Want(201)

	// A file that is too long or not a mapping file aborts its session, and no
	// staged object remains.
	for content, want := range map[string]struct {
		status        int
		code, message string
	}{
		"0,0\n1,1\n":  {413, "PAYLOAD_TOO_LARGE", "has 8 bytes; at most 6 were declared"},
		"0,0\nx":      {422, "MAPPING_FILE_INVALID", "line 2: expected 2 or 4 fields, got 1"},
		"1,0\n":       {422, "MAPPING_FILE_INVALID", "rank 1 is outside 0..0"},
		"0,0\r\n":     {422, "MAPPING_FILE_INVALID", "line 1: carriage return is not allowed"},
		"# n":         {422, "MAPPING_FILE_INVALID", "file has no rank line"},
		"0,0\n\x00,9": {413, "PAYLOAD_TOO_LARGE", "has 7 bytes"},
	} {
		s := openMapping(t, user, workspace, "bad.txt", 6)
		body := s.mapping(t, content)
		if message := user.Post(completeMappingFile, body).Refused(want.status, want.code); !strings.Contains(message, want.message) {
			t.Errorf("%q: got the message %q, want %q in it", content, message, want.message)
		}
		if keys := staged(t, p, s.UploadID); len(keys) > 0 {
			t.Errorf("%q: the objects %v are still staged", content, keys)
		}
		if message := user.Post(completeMappingFile, body).Refused(409, "CONFLICT"); !strings.Contains(message, "aborted") {
			t.Errorf("%q repeated: got the message %q, want that the session is aborted", content, message)
		}
	}
}

// A session cannot be completed after its expiry, even before the job aborts it.
func TestExpiredUploadsAreGone(t *testing.T) {
	t.Parallel()
	p, account, workspace, user := newUploader(t)
	soon := servicetest.Start(t, func(c *settings.Config) {
		*c = p.Config
		c.Roles, c.UploadLife = []string{settings.RoleAPI}, time.Nanosecond
	}).User(t, account)
	var traceset, file session
	soon.Post(openTraceset, object{"name": "set", "workspaceId": workspace, "files": []object{{"name": "a.0.et", "size": 1}}}).Want(200).Into(&traceset)
	soon.Post(openMappingFile, object{"workspaceId": workspace, "sizeBytes": 1}).Want(200).Into(&file)
	parts := []object{{"partNumber": 1, "etag": "x"}}
	late := user.Post(completeTraceset, object{"uploadId": traceset.UploadID, "files": []object{{"name": "a.0.et", "parts": parts}}}).Refused(410, "GONE")
	if !strings.Contains(late, "has expired") {
		t.Errorf("got the message %q, want that the session has expired", late)
	}
	user.Post(completeMappingFile, object{"uploadId": file.UploadID, "parts": parts}).Refused(410, "GONE")
}
