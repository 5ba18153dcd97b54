package main

import (
	"flag"
	"strings"
	"testing"
)

// TestOptions: every option has an effect, or is refused with an error that names it.
func TestOptions(t *testing.T) {
	t.Parallel()
	o, err := parseOptions([]string{"-quick", "-only", "fast,engine", "-profile", "p", "-results", "r"})
	if err != nil || !o.quick || strings.Join(o.only, ",") != "fast,engine" || o.profiles != "p" || o.results != "r" {
		t.Errorf("got %+v, %v; want every option set", o, err)
	}
	known := map[string]string{ // option to a command line that is refused because of it
		"quick": "", "results": "",
		"only": "-only fast,fats", "profile": "-profile p -only engine,audit",
	}
	newFlags(new(options), new(string)).VisitAll(func(f *flag.Flag) {
		line, is := known[f.Name]
		if !is {
			t.Errorf("-%s is missing in known: add it with a command line that is refused", f.Name)
		}
		if line == "" {
			return
		}
		if _, err := parseOptions(strings.Fields(line)); err == nil || !strings.HasPrefix(err.Error(), "-"+f.Name) {
			t.Errorf("bench %s: got %v, want an error that names -%s", line, err, f.Name)
		}
	})
	if _, err := parseOptions([]string{"fast"}); err == nil {
		t.Error("an argument was not refused")
	}
}
