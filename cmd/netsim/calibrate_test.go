package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCalibrate: the command prints the ring that fits a log, and its residuals. It refuses a
// file that is no log.
func TestCalibrate(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	// 14 steps of 5 us, and 1.75 times the size at 400 Gb/s.
	text := strings.Repeat("#  Rank  0 Group  0 Pid 1 on node device 0\n", 8) +
		"#       size count type redop root time algbw busbw #wrong\n" +
		"1048576 262144 float sum -1 106.70 9.83 17.20 0\n16777216 4194304 float sum -1 657.20 25.53 44.67 0\n1073741824 268435456 float sum -1 37650.96 28.52 49.91 0\n"
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, said, code := netsim(t, "engine", "calibrate", log)
	for _, want := range []string{
		"8 ranks, 14 steps of a ring: 5.000 us a step, 400.0 Gb/s of payload a rank\n", "residuals: median 0.0 %, worst 0.0 %\n",
		"in one rack", "over a spine", "16777216", "657.20",
	} {
		if code != 0 || said != "" || !strings.Contains(out, want) {
			t.Errorf("exit code %d, got\n%s%s\nwant %q", code, out, said, want)
		}
	}
	if _, said, code := netsim(t, "engine", "calibrate", "calibrate_test.go"); code != 1 || !strings.Contains(said, "calibrate_test.go: the log names 0 ranks") && !strings.Contains(said, "calibrate_test.go: the log has no header") {
		t.Errorf("exit code %d and %q for a file that is no log", code, said)
	}
}
