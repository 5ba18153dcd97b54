package netsim_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The simulated PostgreSQL knows the statements of the core by their words. Only the stage
// simulate sends them, so this test looks for the words in the code: a statement whose words
// have changed fails here, within seconds. It finds no new statement and no change after the
// words.
func TestTheSimulationKnowsStatementsThatTheCodeSends(t *testing.T) {
	t.Parallel()
	code := strings.Join(sqlTexts(t, "infra"), "\n")
	known := wordsOfStatements(t, "prove/simulation/statements.go")
	if least := 30; len(known) < least {
		t.Fatalf("found %d statements that the simulation knows, want at least %d", len(known), least)
	}
	made := calls(t, "infra/projector")
	for _, words := range known {
		if call, ok := madeBy[words]; ok {
			if !strings.Contains(made, call) {
				t.Errorf("the simulation knows a statement with %q, which %s does not make any more", words, call)
			}
		} else if !strings.Contains(code, plainSQL(words)) {
			t.Errorf("the simulation knows a statement with %q, which the code does not send", words)
		}
	}
	for words := range madeBy {
		if !slices.Contains(known, words) {
			t.Errorf("the simulation knows no statement with %q any more", words)
		}
	}
}

// madeBy has the statements that are made of the columns of a table, and the calls that make
// them.
var madeBy = map[string]string{
	"INSERT INTO streams":     `streamColumns.Insert(writes, p.table("streams")`,
	"INSERT INTO command_ids": `commandColumns.Upsert(writes, p.table("command_ids")`,
	"INSERT INTO facts (":     `factColumns.Begin(writes, p.table("facts")`,
	"INSERT INTO rejected":    `rejectedColumns.Begin(writes, p.table("rejected")`,
	"SELECT family, partition, stream, sequence, hash, state, parked FROM streams WHERE stream = ANY($1)": `p.streams.load(reads, p.table("streams")`,
}

// calls returns the text of the Go files in a directory.
func calls(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

var (
	blanks = regexp.MustCompile(`\s+`)
	// varying is a table or schema of the read model: the name in the simulation, a verb of
	// fmt in the code.
	varying = regexp.MustCompile(`\b(FROM|INTO|SCHEMA) (%(\[\d\])?s|"readmodel"|(log|offsets|parked)\b)`)
)

// plainSQL returns the text of a statement in one line, in which tables whose schema varies
// have no name.
func plainSQL(text string) string {
	return varying.ReplaceAllString(blanks.ReplaceAllString(text, " "), "$1 %s")
}

// wordsOfStatements returns the first string of each composite literal in the list that the
// function statements returns.
func wordsOfStatements(t *testing.T, path string) (words []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		list, ok := n.(*ast.CompositeLit)
		if !ok || list.Type != nil || len(list.Elts) != 5 {
			return true
		}
		if text, ok := stringOf(list.Elts[0]); ok {
			words = append(words, text)
		}
		return true
	})
	return words
}

// sqlTexts returns the strings in the Go files below a directory, but not in tests, and the
// files of SQL. A part of a string that is not constant is %s.
func sqlTexts(t *testing.T, dir string) (texts []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch {
		case filepath.Ext(path) == ".sql":
			text, err := os.ReadFile(path)
			texts = append(texts, plainSQL(string(text)))
			return err
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			text, ok := stringOf(e)
			if ok {
				texts = append(texts, plainSQL(text))
			}
			return !ok
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// stringOf returns the value of a string literal, or of a concatenation with one.
func stringOf(e ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, isLeft := stringOf(e.X)
		right, isRight := stringOf(e.Y)
		if e.Op != token.ADD || !isLeft && !isRight {
			return "", false
		}
		if !isLeft {
			left = "%s"
		}
		if !isRight {
			right = "%s"
		}
		return left + right, true
	}
	return "", false
}
