package cluster

import (
	"encoding/base64"
	"testing"
)

// An id of a cluster has 16 bytes and is no option of a command.
func TestAClusterIDIsNoOption(t *testing.T) {
	t.Parallel()
	for range 1000 {
		id := newClusterID()
		if bytes, err := base64.RawURLEncoding.DecodeString(id); err != nil || len(bytes) != 16 || id[0] < 'A' || id[0] > 'P' {
			t.Fatalf("the id is %q (%v)", id, err)
		}
	}
}
