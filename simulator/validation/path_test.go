package validation_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/simulator/document"
)

var steps = regexp.MustCompile(`^(?:\.([A-Za-z_][A-Za-z0-9_]*)|\[([0-9]+)\]|\['((?:[^'\\]|\\.)*)'\])`)

// resolves reports whether a JSONPath leads to a value in a document, or to a missing
// member of an object or a member below it.
func resolves(t testing.TB, d *document.Document, path string) bool {
	t.Helper()
	at := asJSON(t, d)
	if at == nil {
		return true
	}
	rest, found := strings.CutPrefix(path, "$")
	for found && rest != "" {
		m := steps.FindStringSubmatch(rest)
		if m == nil {
			return false
		}
		rest = rest[len(m[0]):]
		name := m[1]
		if m[3] != "" {
			unquoted, err := strconv.Unquote(`"` + strings.ReplaceAll(m[3], `\'`, `'`) + `"`)
			if err != nil {
				return false
			}
			name = unquoted
		}
		switch v := at.(type) {
		case map[string]any:
			next, there := v[name]
			if m[2] != "" {
				return false
			}
			if !there {
				return !strings.Contains(rest, "[") // a parameter, or its section, is missing
			}
			at = next
		case []any:
			i, err := strconv.Atoi(m[2])
			if err != nil || i >= len(v) {
				return false
			}
			at = v[i]
		default:
			return false
		}
	}
	return found
}

// TestCodes: the package reports all codes of completions.md 3.6 with their
// severities, and no others.
func TestCodes(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	record := func(code ast.Expr, severity string) {
		if text, ok := code.(*ast.BasicLit); ok && len(text.Value) > 2 && text.Value[0] == '"' {
			found[strings.Trim(text.Value, `"`)] = severity
		}
	}
	severity := map[string]string{"err": "error", "warn": "warning", "info": "info"}
	inspect := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt: // in function parameter
			if len(n.Results) == 2 {
				record(n.Results[0], "error")
			}
		case *ast.CallExpr:
			if method, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) > 0 && severity[method.Sel.Name] != "" {
				record(n.Args[0], severity[method.Sel.Name])
			}
		}
		return true
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, inspect)
	}
	if diff := cmp.Diff(documented(), found); diff != "" {
		t.Errorf("codes (-want +got):\n%s", diff)
	}
}
