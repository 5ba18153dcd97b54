//go:build tools

package host_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestProtocolOfTheWrapper: the example wrapper in docs/engine-protocol.md conforms
// to the protocol. The simulator that it wraps is a script.
func TestProtocolOfTheWrapper(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../../docs/engine-protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(doc)
	if code == nil {
		t.Fatal("docs/engine-protocol.md has no wrapper")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "wrap.py"), string(code[1]))
	write(t, filepath.Join(dir, "simulator.sh"), `
echo "simulates $(ls | tr '\n' ' ')"
echo partial > results/a.csv
grep -q endless order.json && exec sleep 1000
test -s workload.simple.json || exit 3
echo progress 5000 7
cp workload.simple.json results/b.json`)
	conforms(t, start(t, dir, "python3", "wrap.py", "0", "sh", filepath.Join(dir, "simulator.sh")).url)
}
