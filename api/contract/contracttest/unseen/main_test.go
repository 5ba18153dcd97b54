package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/api/contract"
)

func TestUnseenResponsesAreListed(t *testing.T) {
	t.Parallel()
	c, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, op := range c.Operations() {
		for _, status := range op.Statuses() {
			seen[fmt.Sprint(op.ID, " ", status)] = status != 500
		}
	}
	bugs := excuse{500, nil, "a bug"}
	if found := compare(c, seen, []excuse{bugs}); found != nil {
		t.Errorf("every response is seen or excused, but got %q", found)
	}
	seen["GetHealth 200"] = false
	got := compare(c, seen, []excuse{bugs, {201, []string{"CreateWorkspace"}, "none"}})
	want := []string{
		"no test has seen GetHealth 200 (GET /api/v1/health)",
		`nothing needs the excuse for 201 of ["CreateWorkspace"]`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestFilesOfDeletedPackagesAreIgnored(t *testing.T) {
	t.Parallel()
	dir, here := t.TempDir(), t.TempDir()
	for of, pairs := range map[string]string{here: "GetHealth 200\nGetHealth 401\n", here + "/gone": "GetHealth 503\n"} {
		if err := os.WriteFile(filepath.Join(dir, url.PathEscape(of)), []byte(pairs), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	seen, err := read(dir)
	if diff := cmp.Diff(map[string]bool{"GetHealth 200": true, "GetHealth 401": true}, seen); diff != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
	if seen, err := read(t.TempDir()); err == nil {
		t.Errorf("an empty directory gave %v, want an error", seen)
	}
}
