package writeapi_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netsim/internal/servicetest"
)

// ring returns the recorded traces of a ring all-reduce of eight ranks, as names
// and contents.
func ring(t *testing.T) (files [][2]string) {
	t.Helper()
	names, err := filepath.Glob("../simulator/chakra/testdata/ring/*")
	if err != nil || len(names) != 8 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, [2]string{filepath.Base(name), string(content)})
	}
	return files
}

// uploadTraceset uploads files, and waits until their metadata is extracted.
func uploadTraceset(t *testing.T, c *servicetest.Client, workspace string, files ...[2]string) object {
	t.Helper()
	var contents []string
	for _, f := range files {
		contents = append(contents, f[1])
	}
	made := c.Post(completeTraceset, openFiles(t, c, workspace, files...).completion(t, contents...)).Want(201).Object()
	return c.Eventually(tracesets+"/"+made["id"].(string), func(r servicetest.Reply) bool {
		return r.Object()["status"] != "processing"
	}).Want(200).Object()
}

// TestUploadedTracesAreRead: uploaded traces become a traceset that can be attached
// to a configuration and mapped to its servers (completions 6.1, 6.3).
func TestUploadedTracesAreRead(t *testing.T) {
	t.Parallel()
	_, _, workspace, user := newUploader(t)
	read := uploadTraceset(t, user, workspace, ring(t)...)
	if read["status"] != "ready" || read["rankCount"] != 8.0 {
		t.Fatalf("got %v, want ready with 8 ranks", read)
	}
	for i, file := range read["files"].([]any) {
		f := file.(object)
		same(t, "rankRange", any(object{"start": float64(i), "end": float64(i)}), f["rankRange"])
		if f["metadataStatus"] != "complete" {
			t.Errorf("got the file %v, want complete metadata", f)
		}
	}

	body := with(workbench(read["id"].(string)), object{"workspaceId": workspace})
	made := user.Post(configurations, body).Want(201).Object()
	path := configurations + "/" + made["id"].(string)
	if ranksOf(made) != 8.0 {
		t.Errorf("got %v ranks, want 8", ranksOf(made))
	}
	file := uploadMapping(t, user, workspace, "eight.txt", identityMapping(8)).Want(201).Object()
	user.Patch(path+"/mapping-file", object{"mappingFileId": file["id"]}).Want(200)
	report := string(user.Post(path+"/validate", nil).Want(200).Body)
	if strings.Contains(report, "MAPPING_") || strings.Contains(report, "TRACESET_") {
		t.Errorf("got the report %s, want nothing about the mapping or the traceset", report)
	}

	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, f := range ring(t) {
		if err := w.WriteHeader(&tar.Header{Name: "ring/" + f[0], Mode: 0o600, Size: int64(len(f[1]))}); err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(w, f[1])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	read = uploadTraceset(t, user, workspace, [2]string{"ring.tar", archive.String()})
	if read["status"] != "ready" || read["rankCount"] != 8.0 {
		t.Fatalf("got %v, want ready with 8 ranks", read)
	}
	same(t, "rankRange", any(object{"start": 0.0, "end": 7.0}), read["files"].([]any)[0].(object)["rankRange"])
	resolved := user.Get(tracesets + "/" + read["id"].(string) + "/resolve").Want(200).Object()
	if resolved["layout"] != "prefix" || resolved["file_count"] != 8.0 {
		t.Errorf("got %v, want 8 files below a prefix", resolved)
	}
}

// TestUploadedTracesAreRefused: a traceset with wrong traces has a message that
// says what is wrong, and cannot be attached.
func TestUploadedTracesAreRefused(t *testing.T) {
	t.Parallel()
	_, _, workspace, user := newUploader(t)
	files := slices.Delete(ring(t), 3, 4)
	read := uploadTraceset(t, user, workspace, files...)
	if message, _ := read["statusMessage"].(string); read["status"] != "metadata_failed" || !strings.Contains(message, "rank 3 is missing") {
		t.Fatalf("got %v, want metadata_failed because rank 3 is missing", read)
	}
	for _, file := range read["files"].([]any) {
		if file.(object)["metadataStatus"] != "failed" {
			t.Errorf("got the file %v, want failed metadata", file)
		}
	}
	user.Post(configurations, with(workbench(read["id"].(string)), object{"workspaceId": workspace})).Refused(409, "CONFLICT")

	none := uploadTraceset(t, user, workspace, [2]string{"comm_groups.json", "{}"})
	if message, _ := none["statusMessage"].(string); none["status"] != "metadata_failed" || message == "" {
		t.Errorf("without traces: got %v, want metadata_failed", none)
	}
	user.Post(configurations, with(workbench(none["id"].(string)), object{"workspaceId": workspace})).Refused(409, "CONFLICT")
}
