package client_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestATracesetIsUploaded: the files of the ranks become a traceset, and nothing is left of
// the state of the upload.
func TestATracesetIsUploaded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	out := w.m.wants(append([]string{"trace", "upload"}, ring("--name", "ring", "--tag", "a", "--description", "eight ranks", "--watch")...)...)
	if !regexp.MustCompile(`^ts_\w+ ready\n$`).MatchString(out) {
		t.Errorf("the command prints %q", out)
	}
	if left, err := os.ReadDir(filepath.Join(w.m.Home, "uploads")); err != nil || len(left) > 0 {
		t.Errorf("there is left %v, %v", left, err)
	}
	w.m.fails(1, "is metadata_failed", "trace", "upload", w.written("chakra.0.et", "no trace"), "--name", "none", "--watch")
	w.m.fails(2, "none.et", "trace", "upload", "none.et", "--name", "none")
}
