package netsim_test

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestWaitsAreBounded: a test that waits for something which does not come fails
// and says what it waited for, instead of hanging until its binary is killed.
// Where synctest runs a test, it finds that all of its goroutines wait.
func TestWaitsAreBounded(t *testing.T) {
	t.Parallel()
	for _, f := range sourceFiles(t) {
		dir := filepath.Dir(f.path)
		servers := dir == "infra/teststack" || strings.HasPrefix(dir, "infra/devstack") // that tests talk to
		if !f.isTest() && !in(support(), dir) || servers || dir == "internal/testwait" || imports(f, "testing/synctest") {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CommClause: // of a select, which has other cases
				for _, s := range n.Body {
					ast.Inspect(s, func(n ast.Node) bool { return bounded(t, f, n) })
				}
				return false
			default:
				return bounded(t, f, n)
			}
		})
	}
}

// bounded reports a node that waits without a bound.
func bounded(t *testing.T, f sourceFile, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CommClause:
		for _, s := range n.Body {
			ast.Inspect(s, func(n ast.Node) bool { return bounded(t, f, n) })
		}
		return false
	case *ast.UnaryExpr:
		if n.Op == token.ARROW && !endsByItself(n.X) {
			t.Errorf("%s receives outside of a select: wait with testwait.Receive, in a goroutine beside the test with testwait.Gate", f.path)
		}
	case *ast.CallExpr:
		if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Wait" && len(n.Args) == 0 && !isProcess(s.X) {
			t.Errorf("%s calls %s(): wait with testwait.Group or testwait.Call", f.path, selected(s))
		}
	}
	return true
}

// endsByItself reports whether a channel is one of time or of a context.
func endsByItself(x ast.Expr) bool {
	if call, ok := x.(*ast.CallExpr); ok {
		x = call.Fun
	}
	s, ok := x.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"Done", "After", "C"}, s.Sel.Name)
}

// isProcess reports whether x is a child process by its name: one that a context
// bounds or that was killed before.
func isProcess(x ast.Expr) bool {
	name := ""
	switch x := x.(type) {
	case *ast.Ident:
		name = x.Name
	case *ast.SelectorExpr:
		name = x.Sel.Name
	}
	return slices.Contains([]string{"cmd", "child", "list", "run"}, name)
}

func imports(f sourceFile, path string) bool {
	return slices.ContainsFunc(f.syntax.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"`+path+`"` })
}
