package netsim_test

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestWaitsAreBounded: no test receives from a channel outside of a select, or calls
// Wait, without a bound. So a test whose condition never holds fails and names the
// condition, instead of hanging until its binary is killed. Files that use synctest are
// exempt, because synctest detects that all goroutines wait.
func TestWaitsAreBounded(t *testing.T) {
	t.Parallel()
	for _, f := range sourceFiles(t) {
		dir := filepath.Dir(f.path)
		servers := dir == "internal/teststack" || strings.HasPrefix(dir, "cmd/netsim-dev") // servers for tests, which may wait forever
		if !f.isTest() && !in(support(), dir) || servers || dir == "internal/testwait" || imports(f, "testing/synctest") {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CommClause: // a case of a select; only its body is checked
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

// bounded fails the test when a node waits without a bound. It returns whether the
// caller should inspect the node's children.
func bounded(t *testing.T, f sourceFile, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CommClause:
		for _, s := range n.Body {
			ast.Inspect(s, func(n ast.Node) bool { return bounded(t, f, n) })
		}
		return false
	case *ast.UnaryExpr:
		if n.Op == token.ARROW && !endsByItself(n.X) {
			t.Errorf("%s receives outside of a select: wait with testwait.Receive, or with testwait.Gate in another goroutine", f.path)
		}
	case *ast.CallExpr:
		if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Wait" && len(n.Args) == 0 && !isProcess(s.X) {
			t.Errorf("%s calls %s(): wait with testwait.Group or testwait.Call", f.path, selected(s))
		}
	}
	return true
}

// endsByItself reports whether a channel belongs to a timer or a context.
func endsByItself(x ast.Expr) bool {
	if call, ok := x.(*ast.CallExpr); ok {
		x = call.Fun
	}
	s, ok := x.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"Done", "After", "C"}, s.Sel.Name)
}

// isProcess reports by its name whether x is a child process. A context bounds such
// processes, or they were killed before.
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
