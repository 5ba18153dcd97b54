package main

import (
	"os"
	"strings"
	"testing"
)

// atLeast is the last line of a verification without a note of the caller's.
const atLeast = "\neverything that is there agrees, but its end may have been cut off: a checkpoint that you hold shows that (--note FILE, or --no-note if you know)\n"

// TestVerifyABundleByCommand: when a bundle is not what the auditor asked for, the exit
// status is 1 and the output names the difference.
func TestVerifyABundleByCommand(t *testing.T) {
	t.Parallel()
	read, err := os.ReadFile(fixtures + "key")
	if err != nil {
		t.Fatal(err)
	}
	key := strings.TrimSpace(string(read))
	for line, want := range map[string]string{
		"bundle.jsonl":  "from 2026-11-02 to 2026-11-04, coveredUntil 2026-11-06T00:02:30.000Z: ",
		"bundle.jsonl ": "\nchain platform_netsim: 3 events\n",
		"bundle.jsonl --note held.note --from 2026-11-02 --to 2026-11-04 --account acct_00000000000000000000000001": "everything agrees\n",
		"bundle.jsonl --note held.note --note other.note":                                                           "FOUND line 37: the bundle has no checkpoint 2026-11-04",
		"forged.jsonl":                                           atLeast, // the operator's own key signed the forgery
		"forged.jsonl --no-note":                                 "\neverything that is there agrees\n",
		"bundle.jsonl --strict --note held.note":                 "\neverything agrees\n",
		"forged.jsonl --note held.note":                          "FOUND",
		"spliced.jsonl --note held.note":                         "FOUND",
		"spliced.jsonl":                                          "FOUND",
		"bundle.jsonl --from 2026-11-01":                         "FOUND line 1: the bundle is of the days from 2026-11-02 to 2026-11-04, not from 2026-11-01 to 2026-11-04\n",
		"bundle.jsonl --to 2026-11-05":                           "FOUND line 1: the bundle is of the days from 2026-11-02 to 2026-11-04, not from 2026-11-02 to 2026-11-05\n",
		"bundle.jsonl --account acct_00000000000000000000000002": "FOUND line 1: the bundle is of account acct_00000000000000000000000001, not of",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			args := []string{"audit", "verify", "--key", key}
			for _, word := range strings.Fields(line) {
				if strings.Contains(word, ".") {
					word = fixtures + word
				}
				args = append(args, word)
			}
			out, said, code := netsim(t, args...)
			if found := strings.Contains(want, "FOUND"); !strings.Contains(out, want) || (code == 1) != found || (code == 0) == found {
				t.Errorf("exit status %d, output %s%s; want %q", code, out, said, want)
			}
		})
	}
	for strict, want := range map[string]string{"--strict": ": checkpoint 2026-11-06 names 1 losses of the log that operators accepted\n", "--no-note": "\neverything that is there agrees\n"} {
		out, said, code := netsim(t, "audit", "verify", fixtures+"lossy.jsonl", strict)
		if !strings.Contains(out, want) || (code == 1) != (strict == "--strict") {
			t.Errorf("a bundle with an accepted loss, %s: exit status %d, output %s%s; want %q", strict, code, out, said, want)
		}
	}
	_, _, code := netsim(t, "audit", "verify", fixtures+"bundle.jsonl", "--key", "netsim+1+x")
	if code == 0 {
		t.Error("a malformed key was accepted")
	}
}

// TestVerifyABundleOfSeveralKeys: a bundle signed by the third key of a log is verified
// with an earlier key if the bundle contains the succession from that key.
func TestVerifyABundleOfSeveralKeys(t *testing.T) {
	t.Parallel()
	for name, unsucceeded := range map[string]string{
		"first.key":  "FOUND line 1: the bundle was sealed with the key test+",
		"second.key": atLeast, // the second succession is a checkpoint of the period
		"third.key":  atLeast,
		"key":        "FOUND line 1: the bundle was sealed with the key test+",
	} {
		read, err := os.ReadFile(fixtures + name)
		if err != nil {
			t.Fatal(err)
		}
		succeeded := atLeast
		if name == "key" { // the key of another log
			succeeded = unsucceeded
		}
		for bundle, want := range map[string]string{"succeeded.jsonl": succeeded, "unsucceeded.jsonl": unsucceeded} {
			out, said, code := netsim(t, "audit", "verify", fixtures+bundle, "--key", strings.TrimSpace(string(read)))
			if found := strings.Contains(want, "FOUND"); !strings.Contains(out, want) || (code == 1) != found || (code == 0) == found {
				t.Errorf("%s with %s: exit status %d, output %s%s; want %q", bundle, name, code, out, said, want)
			}
		}
	}
}
