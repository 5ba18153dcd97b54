//go:build tools

package broker_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netsim/events"
)

// archives reports whether a directory has an archive of records of every family that has
// some, and of what reactions have committed.
func archives(t *testing.T, dir string) bool {
	t.Helper()
	notes, err := filepath.Glob(filepath.Join(dir, "*.note"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, note := range notes {
		text, err := os.ReadFile(note)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return strings.Contains(all.String(), "\nsection "+string(events.Workspaces)+" ") && strings.Contains(all.String(), "\ngroup ")
}
