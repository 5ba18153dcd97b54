package netsim_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestRoomsImportOnlyRoomsBelow: ARCHITECTURE.md lists every room, and from the first one
// down to fault no room imports one above it.
func TestRoomsImportOnlyRoomsBelow(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n| room | owns |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var rooms []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]*) \|`).FindAllStringSubmatch(table, -1) {
		for _, room := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(row[1], -1) {
			rooms = append(rooms, room[1])
		}
	}
	last := slices.Index(rooms, "fault")
	if last < 0 {
		t.Fatalf("ARCHITECTURE.md lists the rooms %q, and not fault", rooms)
	}
	seen := map[string]bool{}
	for _, p := range listPackages(t) {
		room, _, _ := strings.Cut(p.path(), "/")
		at := slices.Index(rooms, room)
		if at < 0 {
			t.Errorf("%s is in no room of ARCHITECTURE.md", p.path())
		}
		seen[room] = true
		for _, imported := range p.Imports {
			ours, isOurs := strings.CutPrefix(imported, module)
			other, _, _ := strings.Cut(ours, "/")
			if isOurs && at <= last && slices.Index(rooms, other) < at {
				t.Errorf("%s imports %s, whose room is above it in ARCHITECTURE.md", p.path(), ours)
			}
		}
	}
	for _, room := range rooms[:last+1] {
		if !seen[room] {
			t.Errorf("the room %s of ARCHITECTURE.md has no package", room)
		}
	}
}
