package service

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"netsim/infra/broker"
)

// TestFirstExpiry: of the certificates for Kafka the first to expire counts, and those
// that do not exist do not.
func TestFirstExpiry(t *testing.T) {
	t.Parallel()
	soon, later := time.Unix(1000, 0), time.Unix(2000, 0)
	for name, c := range map[string]struct {
		report broker.Report
		want   time.Time
	}{
		"plain TCP":      {broker.Report{TokenUntil: soon}, time.Time{}},
		"only brokers'":  {broker.Report{BrokerUntil: later}, later},
		"own is first":   {broker.Report{CertUntil: soon, BrokerUntil: later, CAUntil: later}, soon},
		"authority's is": {broker.Report{CAUntil: soon, BrokerUntil: later}, soon},
	} {
		if got := firstExpiry(c.report); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestGroupLimit: the lowest limit of a process's control group and those above it
// counts, in both versions of control groups, and in a container that does not see the
// path of its group.
func TestGroupLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files  map[string]string
		groups string
		want   int64
	}{
		"none":          {nil, "0::/a/b\n", math.MaxInt64},
		"version 2":     {map[string]string{"a/memory.max": "500\n", "a/b/memory.max": "max\n"}, "0::/a/b\n", 500},
		"both have one": {map[string]string{"a/memory.max": "500\n", "a/b/memory.max": "300\n"}, "0::/a/b\n", 300},
		"container":     {map[string]string{"memory.max": "700\n"}, "0::/kubepods/pod1\n", 700},
		"version 1":     {map[string]string{"memory/a/memory.limit_in_bytes": "900\n"}, "5:cpu:/a\n4:memory:/a\n", 900},
		"no limit, 1":   {map[string]string{"memory/memory.limit_in_bytes": "9223372036854771712\n"}, "4:memory:/\n", math.MaxInt64},
		"upwards":       {map[string]string{"memory.max": "700\n"}, "0::/../..\n", 700},
	} {
		root := t.TempDir()
		for path, text := range c.files {
			path = filepath.Join(root, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := groupLimit(root, c.groups); got != c.want {
			t.Errorf("%s: the limit is %d, want %d", name, got, c.want)
		}
	}
}
