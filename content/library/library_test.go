package library_test

import (
	"strings"
	"testing"

	"netsim/content/library"
	"netsim/events"
)

// TestALibraryIsKnownByItsFiles: the hash of a library depends on the names,
// sizes and content of its files, and on nothing else.
func TestALibraryIsKnownByItsFiles(t *testing.T) {
	t.Parallel()
	a := events.TracesetFile{Name: "a", Size: 1, Hash: "sha256:" + strings.Repeat("a", 64), Role: "primary"}
	b := events.TracesetFile{Name: "b", Size: 1, Hash: "sha256:" + strings.Repeat("b", 64)}
	hash := library.Hash([]events.TracesetFile{a, b})
	if len(hash) != 64 || hash != library.Hash([]events.TracesetFile{b, a}) {
		t.Errorf("hash %s depends on the order of the files", hash)
	}
	for what, change := range map[string]func(*events.TracesetFile){
		"name":    func(f *events.TracesetFile) { f.Name = "c" },
		"size":    func(f *events.TracesetFile) { f.Size = 2 },
		"content": func(f *events.TracesetFile) { f.Hash = b.Hash },
	} {
		other := a
		change(&other)
		if library.Hash([]events.TracesetFile{other, b}) == hash {
			t.Errorf("files with another %s have the same hash", what)
		}
	}
	a.Role, a.ContentType = "supporting", "text/plain"
	if library.Hash([]events.TracesetFile{a, b}) != hash {
		t.Error("files with another role have another hash")
	}
	if got, want := library.Key(hash, a.Hash), "libraries/"+library.ID(hash)+"/aa/"+strings.Repeat("a", 62); got != want {
		t.Errorf("key %s, want %s", got, want)
	}
}

// The line format must never change, because the keys of stored objects depend on
// it.
func TestTheHashOfALibraryStays(t *testing.T) {
	t.Parallel()
	got := library.Hash([]events.TracesetFile{{Name: "a", Size: 1, Hash: "sha256:" + strings.Repeat("a", 64)}})
	if want := "4228a0ba41fe3a2159d904c990b272615520196d1b4d4075581bd480afff3619"; got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
}
