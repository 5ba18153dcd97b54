package main

import (
	"strings"
	"testing"

	"netsim/cmd/settings"
)

// TestHelpListsEverySetting: 'netsim serve --help' has every setting with its default, its
// meaning and when to change it.
func TestHelpListsEverySetting(t *testing.T) {
	t.Parallel()
	out, said, code := netsim(t, "serve", "--help")
	if code != 0 {
		t.Fatalf("exit status %d: %s", code, said)
	}
	help := strings.Join(strings.Fields(out), " ")
	words := func(text string) string {
		before, _, _ := strings.Cut(text, "[") // a link becomes the path of its page
		return strings.Join(strings.Fields(strings.ReplaceAll(before, "`", "")), " ")
	}
	for _, s := range settings.All() {
		_, entry, found := strings.Cut(help, " "+s.Variable+" [")
		if !found {
			t.Errorf("the help lacks %s", s.Variable)
			continue
		}
		for _, want := range []string{s.Default, words(s.Meaning), words(s.Change)} {
			if at := strings.Index(entry, want); at < 0 || at > 1200 {
				t.Errorf("the help of %s lacks %q", s.Variable, want)
			}
		}
	}
}
