// Command unseen compares the responses that the tests received from the service
// with the responses that the contract documents:
//
//	unseen DIR
//
// DIR is the value of NETSIM_CONTRACT_SEEN in the test run (contracttest.Saw).
// The command fails if a documented response was neither seen nor excused, or if an
// excuse is unnecessary. It lists both.
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
		return fmt.Errorf("the contract and the responses seen by the tests differ:\n  %s", strings.Join(found, "\n  "))
	}
	return nil
}

// read returns the pairs of operation and status that the tests of all existing
// packages saw. It ignores the files of deleted packages.
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
		return nil, fmt.Errorf("%s has no recorded response", dir)
	}
	return seen, nil
}

// compare returns a message for each documented response that was neither seen nor
// excused, and for each excuse whose responses are undocumented or were all seen.
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
