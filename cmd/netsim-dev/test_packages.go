package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// testPackage is a package with the size of its test files, in bytes.
type testPackage struct {
	path    string
	size    int64
	shares  bool // its goroutines share memory
	servers bool // its tests have servers, which handle several requests at a time
}

// list returns the packages of the patterns: first those whose tests have servers, which take
// the longest, and of both kinds those with the most test code first.
func (o testOptions) list(patterns []string) ([]testPackage, error) {
	args := []string{"list", "-test", "-json=ImportPath,ForTest,Dir,Imports,TestImports,XTestImports,TestGoFiles,XTestGoFiles,Deps"}
	if o.tags != "" {
		args = append(args, "-tags", o.tags)
	}
	cmd := exec.Command("go", append(args, patterns...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var all []testPackage
	servers := map[string]bool{} // packages whose tests start servers
	for lines := json.NewDecoder(out); ; {
		var p struct {
			ImportPath, ForTest, Dir           string
			Imports, TestImports, XTestImports []string
			TestGoFiles, XTestGoFiles, Deps    []string
		}
		if err := lines.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if p.ForTest != "" {
			servers[p.ForTest] = servers[p.ForTest] || slices.Contains(p.Deps, serverSupport)
			continue
		}
		if strings.HasSuffix(p.ImportPath, ".test") {
			continue
		}
		listed := testPackage{path: p.ImportPath}
		for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			if info, err := os.Stat(filepath.Join(p.Dir, name)); err == nil {
				listed.size += info.Size()
			}
		}
		listed.shares = slices.ContainsFunc(slices.Concat(p.Imports, p.TestImports, p.XTestImports), sharesMemory)
		all = append(all, listed)
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for i := range all {
		all[i].servers = servers[all[i].path]
	}
	slices.SortStableFunc(all, func(a, b testPackage) int {
		if a.servers != b.servers {
			return map[bool]int{true: -1, false: 1}[a.servers]
		}
		return int(b.size - a.size)
	})
	return all, nil
}

// serverSupport is the package that gives tests their servers.
const serverSupport = "netsim/internal/teststack"

// sharesMemory reports whether a package that imports the path shares memory between
// goroutines.
func sharesMemory(path string) bool {
	return path == "sync" || path == "sync/atomic" || path == "net" || path == "net/http" || strings.HasPrefix(path, "golang.org/x/sync/")
}
