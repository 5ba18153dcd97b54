package main

import (
	"flag"
	"strings"
	"testing"
)

// TestOptions: every option is honoured, or refused with one sentence.
func TestOptions(t *testing.T) {
	t.Parallel()
	o, err := parseOptions([]string{"-quick", "-only", "fast,engine", "-profile", "p", "-results", "r"})
	if err != nil || !o.quick || strings.Join(o.only, ",") != "fast,engine" || o.profiles != "p" || o.results != "r" {
		t.Errorf("%+v, %v", o, err)
	}
	known := map[string]string{ // option, and the command line that it is refused in
		"quick": "", "results": "",
		"only": "-only fast,fats", "profile": "-profile p -only engine,audit",
	}
	newFlags(new(options), new(string)).VisitAll(func(f *flag.Flag) {
		line, is := known[f.Name]
		if !is {
			t.Errorf("-%s has no row: say where it is honoured and where refused", f.Name)
		}
		if line == "" {
			return
		}
		if _, err := parseOptions(strings.Fields(line)); err == nil || !strings.HasPrefix(err.Error(), "-"+f.Name) {
			t.Errorf("bench %s: %v", line, err)
		}
	})
	if _, err := parseOptions([]string{"fast"}); err == nil {
		t.Error("an argument was not refused")
	}
}
