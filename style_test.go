package netsim_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const maxLines = 400

// sourceFile is a Go file that is not generated.
type sourceFile struct {
	path   string
	lines  int
	syntax *ast.File
}

func (f sourceFile) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// sourceFiles returns every Go file of the repository that is not generated, including
// those of the other modules, tools and cmd/netsim-dev.
func sourceFiles(t *testing.T) []sourceFile {
	t.Helper()
	var files []sourceFile
	set := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != "."):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		syntax, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		if !ast.IsGenerated(syntax) {
			files = append(files, sourceFile{filepath.ToSlash(path), set.File(syntax.Pos()).LineCount(), syntax})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestFilesKeepToTheStyle(t *testing.T) {
	t.Parallel()
	ceremony := regexp.MustCompile(`(Manager|Helper|Util|Utils|Impl|Service)$`)
	vague := regexp.MustCompile(`(?i)\bwhoever\b`)
	documented := map[string]bool{}
	for _, f := range sourceFiles(t) {
		if f.lines > maxLines {
			t.Errorf("%s has %d lines, want at most %d", f.path, f.lines, maxLines)
		}
		if !f.isTest() {
			dir := filepath.Dir(f.path)
			documented[dir] = documented[dir] || f.syntax.Doc.Text() != ""
		}
		for _, comment := range f.syntax.Comments {
			if word := vague.FindString(comment.Text()); word != "" {
				t.Errorf("%s has a comment with %q; name the caller, the client or another writer", f.path, word)
			}
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Name.Name == "init" && n.Recv == nil {
					t.Errorf("%s has an init function", f.path)
				}
			case *ast.TypeSpec:
				if ceremony.MatchString(n.Name.Name) {
					t.Errorf("%s: %s has a suffix without meaning; use a domain name", f.path, n.Name.Name)
				}
			case *ast.SelectorExpr:
				if name := selected(n); f.isTest() && (name == "time.Sleep" || strings.HasPrefix(name, "t.Skip")) {
					t.Errorf("%s uses %s: tests wait for conditions, and fail when a server is missing", f.path, name)
				}
			}
			return true
		})
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("package %s has no comment", dir)
		}
	}
}

// The file names of package commands show what the product does: each command has its
// own file, and the file's name has every word of the command's name. Decisions are
// pure, so the package imports no context, lock, log, random, file or network package.
func TestEachCommandHasAFile(t *testing.T) {
	t.Parallel()
	const longest = 80
	impure := set{"context", "io", "io/fs", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http", "os", "sync", "sync/atomic"}
	for _, f := range sourceFiles(t) {
		if filepath.Dir(f.path) != "commands" || f.isTest() {
			continue
		}
		for _, imported := range f.syntax.Imports {
			if path, _ := strconv.Unquote(imported.Path.Value); slices.Contains(impure, path) {
				t.Errorf("%s imports %s; decisions are pure", f.path, path)
			}
		}
		name := filepath.Base(f.path)
		commands := deciders(f.syntax)
		if len(commands) > 1 || len(commands) == 1 && (f.lines > longest || !named(name, commands[0])) {
			t.Errorf("%s has %d lines and the commands %q; want one command in at most %d lines, and a file name with every word of it",
				f.path, f.lines, commands, longest)
		}
	}
}

// deciders lists the types of a file that have a method Decide.
func deciders(file *ast.File) (names []string) {
	for _, d := range file.Decls {
		method, ok := d.(*ast.FuncDecl)
		if !ok || method.Recv == nil || method.Name.Name != "Decide" {
			continue
		}
		if receiver, ok := method.Recv.List[0].Type.(*ast.Ident); ok {
			names = append(names, receiver.Name)
		}
	}
	return names
}

// named reports whether a file's name has every word of the command's name.
func named(file, command string) bool {
	words := strings.Split(strings.TrimSuffix(file, ".go"), "_")
	for _, word := range regexp.MustCompile(`[A-Z][a-z]*`).FindAllString(command, -1) {
		if !slices.Contains(words, strings.ToLower(word)) {
			return false
		}
	}
	return true
}

// selected returns "x.Name" for a selector on a plain name, and ".Name"
// otherwise.
func selected(n *ast.SelectorExpr) string {
	x, _ := n.X.(*ast.Ident)
	if x == nil {
		return "." + n.Sel.Name
	}
	return x.Name + "." + n.Sel.Name
}
