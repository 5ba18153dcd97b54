package netsim_test

import (
	"go/ast"
	"go/build/constraint"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestOnlyFaultsKill: outside of internal/faults, no test ends a process by SIGKILL,
// suspends one by SIGSTOP, or ends and restarts a server of teststack. Such tests want the
// machine for themselves, so make test does not run them, and none of them is parallel.
// Files with the build tag faults belong to them. A process that a test leaves behind is
// killed in t.Cleanup or by a timer; the servers of tests kill what they started.
func TestOnlyFaultsKill(t *testing.T) {
	t.Parallel()
	for _, f := range sourceFiles(t) {
		dir := filepath.Dir(f.path)
		servers := in(set{"internal/teststack", "internal/teststack/", "internal/scripted", "cmd/netsim-dev", "cmd/netsim-dev/"}, dir)
		prove := in(set{"prove/"}, dir)
		kills := in(set{"internal/faults", "internal/faults/"}, dir) || tagged(f, "faults")
		switch {
		case !f.isTest() && !in(support(), dir) || servers || prove:
		case kills:
			ast.Inspect(f.syntax, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Parallel" {
					t.Errorf("%s calls %s: tests that kill run one at a time", f.path, selected(s))
				}
				return true
			})
		default:
			for _, how := range killed(f.syntax) {
				t.Errorf("%s uses %s: tests that kill belong to internal/faults", f.path, how)
			}
		}
	}
}

// TestEveryFaultIsRun: a command of make faults, or the stage with Prometheus, names each
// test of the files with the build tag faults, so that none is forgotten.
func TestEveryFaultIsRun(t *testing.T) {
	t.Parallel()
	var commands string
	for _, path := range []string{"Makefile", ".ci/observe/run"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		commands += string(text)
	}
	for _, f := range sourceFiles(t) {
		if !tagged(f, "faults") {
			continue
		}
		for _, d := range f.syntax.Decls {
			test, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(test.Name.Name, "Test") || test.Name.Name == "TestMain" {
				continue
			}
			if !regexp.MustCompile(`\b` + test.Name.Name + `\b`).MatchString(commands) {
				t.Errorf("%s: no command runs %s", f.path, test.Name.Name)
			}
		}
	}
}

// killed returns how a file ends or suspends processes, other than in the clean-up.
func killed(n ast.Node) (how []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			s, ok := n.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if name := s.Sel.Name; name == "Cleanup" || name == "AfterFunc" {
				return false
			} else if len(n.Args) == 0 && (name == "Kill" || name == "Restart") {
				how = append(how, selected(s)+"()")
			}
		case *ast.AssignStmt: // of a function that ends a command whose context has ended
			s, ok := n.Lhs[0].(*ast.SelectorExpr)
			return !ok || s.Sel.Name != "Cancel"
		case *ast.KeyValueExpr: // of a process that ends with its parent
			name, ok := n.Key.(*ast.Ident)
			return !ok || name.Name != "Pdeathsig"
		case *ast.SelectorExpr:
			if slices.Contains([]string{"SIGKILL", "SIGSTOP"}, n.Sel.Name) {
				how = append(how, selected(n))
			}
		}
		return true
	})
	return how
}

// tagged reports whether a file is built only under the tag.
func tagged(f sourceFile, tag string) bool {
	for _, group := range f.syntax.Comments {
		for _, c := range group.List {
			if x, err := constraint.Parse(c.Text); err == nil && c.Pos() < f.syntax.Package {
				return x.Eval(func(string) bool { return true }) && !x.Eval(func(other string) bool { return other != tag })
			}
		}
	}
	return false
}
