// Command unseen compares the answers that the tests have had from the service
// with those that the contract documents:
//
//	unseen DIR
//
// DIR is what NETSIM_CONTRACT_SEEN named when the tests ran (contracttest.Saw).
// It fails with a list of the answers that no test has produced and that are
// not excused, and of the excuses that are none.
package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"netsim/api/contract"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "unseen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: unseen DIR")
	}
	seen, err := read(args[0])
	if err != nil {
		return err
	}
	c, err := contract.Load()
	if err != nil {
		return err
	}
	found := compare(c, seen, excuses())
	if len(found) > 0 {
		return fmt.Errorf("the contract and what the tests have seen differ:\n  %s", strings.Join(found, "\n  "))
	}
	return nil
}

// read gathers the pairs of all packages that are still there.
func read(dir string) (map[string]bool, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, f := range files {
		of, err := url.PathUnescape(f.Name())
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(of); err != nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return nil, err
		}
		for pair := range strings.Lines(string(text)) {
			seen[strings.TrimSpace(pair)] = true
		}
	}
	if len(seen) == 0 {
		return nil, fmt.Errorf("%s holds nothing", dir)
	}
	return seen, nil
}

// compare returns what is documented, not excused and not seen, and what is
// excused and documented by none or seen all the same.
func compare(c *contract.Contract, seen map[string]bool, excuses []excuse) []string {
	var found []string
	used := make([]bool, len(excuses))
	for _, op := range c.Operations() {
		for _, status := range op.Statuses() {
			pair := fmt.Sprintf("%s %d", op.ID, status)
			excused := false
			for i, e := range excuses {
				if e.covers(op, status) {
					excused, used[i] = true, used[i] || !seen[pair]
				}
			}
			if !seen[pair] && !excused {
				found = append(found, fmt.Sprintf("no test has seen %s (%s %s)", pair, op.Method, op.Path))
			}
		}
	}
	for i, e := range excuses {
		if !used[i] {
			found = append(found, fmt.Sprintf("nothing needs the excuse for %d of %q", e.status, e.operations))
		}
	}
	return found
}
