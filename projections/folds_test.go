package projections_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"netsim/events"
)

// unfolded lists the event types that no read model shows, with the reason.
func unfolded() map[string]string {
	return map[string]string{
		"AccessLogged":      "auditors read it from the log",
		"LogLossAccepted":   "its stream's state lists all of them",
		"LogMoved":          "the audit and the projector read it from the log",
		"SimulationResumed": "billing reacts to it; the read model does not say which worker has a run",
		"LogSealed":         "the projector itself stores which seals a partition demands",
	}
}

// Every event type is folded by a projection or excused by unfolded. A projection
// folds the types in its cases and type assertions. Those of configurations, webhooks and
// workspaces also fold the types in the Evolve of their write states.
func TestEveryEventIsFolded(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	folded := map[string]bool{}
	for _, path := range append(files, "../commands/configuration.go", "../commands/workspace.go", "../commands/webhook.go") {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CaseClause:
				for _, of := range n.List {
					folded[eventName(of)] = true
				}
			case *ast.TypeAssertExpr:
				folded[eventName(n.Type)] = true
			}
			return true
		})
	}
	for _, zero := range events.Types() {
		name := reflect.TypeOf(zero).Name()
		reason, excused := unfolded()[name]
		switch {
		case !folded[name] && !excused:
			t.Errorf("no projection folds %s", name)
		case folded[name] && excused:
			t.Errorf("a projection folds %s, which unfolded excuses: %s", name, reason)
		}
	}
}

// eventName returns X for the type events.X, "" for any other type.
func eventName(of ast.Expr) string {
	if s, ok := of.(*ast.SelectorExpr); ok {
		if pkg, ok := s.X.(*ast.Ident); ok && pkg.Name == "events" {
			return s.Sel.Name
		}
	}
	return ""
}
