package web

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"netsim/fault"
)

// Every code in the source of package fault has a status.
func TestEveryCodeHasAStatus(t *testing.T) {
	t.Parallel()
	codes := faultCodes(t)
	if len(codes) < 20 {
		t.Fatalf("found %d codes in package fault, want at least 20", len(codes))
	}
	for name, code := range codes {
		status, known := statusOf(code)
		if !known {
			t.Errorf("fault.%s (%s) has no status", name, code)
		}
		if known && (status < 300 || status > 599) {
			t.Errorf("fault.%s has status %d, want one from 300 to 599", name, status)
		}
	}
	if got := Status("SOMETHING_ELSE"); got != 500 {
		t.Errorf("status of an unknown code = %d, want 500", got)
	}
}

func faultCodes(t *testing.T) map[string]fault.Code {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "fault", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]fault.Code{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if typ, ok := spec.Type.(*ast.Ident); !ok || typ.Name != "Code" {
				return true
			}
			for i, value := range spec.Values {
				literal, err := strconv.Unquote(value.(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				codes[spec.Names[i].Name] = fault.Code(literal)
			}
			return true
		})
	}
	return codes
}
