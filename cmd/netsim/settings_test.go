package main

import (
	"strings"
	"testing"

	"netsim/cmd/settings"
)

// TestHelpListsEverySetting: 'netsim serve --help' has every setting with its default, its
// meaning and when to change it. It begins with the required ones.
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
	last, first := 0, len(help) // the last required setting, the first other one
	for _, s := range settings.All() {
		at := strings.Index(help, " "+s.Variable+" [")
		if s.Required {
			last = max(last, at)
		} else {
			first = min(first, at)
		}
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
	if last > first {
		t.Errorf("the help has other settings before required ones:\n%s", help[first:last])
	}
}
