package netsim_test

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// claim is a command of the gate or of a stage that runs tests: "go test" or "netsim-dev
// test", with its options.
type claim struct {
	by       string // the script, or the target of the Makefile
	module   string // directory of the module
	packages []string
	except   string
	tags     []string
	run      *regexp.Regexp // nil for all tests
}

// TestEveryTestIsRun: every test of the repository, in every module and under every build
// tag, is run by the gate or by a stage.
func TestEveryTestIsRun(t *testing.T) {
	t.Parallel()
	claims := claims(t)
	for _, f := range testFiles(t) {
		if f.simulated() {
			continue // prove/simulation builds and runs it itself, with the runtime that it edits
		}
		for _, name := range f.tests {
			if !slices.ContainsFunc(claims, func(c claim) bool { return c.runs(f, name) }) {
				t.Errorf("%s: neither the gate nor a stage runs %s", f.path, name)
			}
		}
	}
}

// TestEveryClaimRunsTests: what the gate and the stages name exists.
func TestEveryClaimRunsTests(t *testing.T) {
	t.Parallel()
	files := testFiles(t)
	for _, c := range claims(t) {
		for _, p := range c.packages {
			one := c
			one.packages = []string{p}
			if !slices.ContainsFunc(files, func(f testFile) bool {
				return slices.ContainsFunc(f.tests, func(name string) bool { return one.runs(f, name) })
			}) {
				t.Errorf("%s: no test is run by its command for %s in %s", c.by, p, c.module)
			}
		}
	}
}

// TestEveryScriptIsUsed: every program under .ci is a stage, or another file calls it; and
// so is every module.
func TestEveryScriptIsUsed(t *testing.T) {
	t.Parallel()
	callers := map[string]string{}
	for _, pattern := range []string{"Makefile", ".ci/*", ".ci/*/*", "internal/*/*.go", "cmd/netsim-dev/*.go", "console/package.json"} {
		for _, file := range glob(t, pattern) {
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
				callers[file] = readText(t, file)
			}
		}
	}
	called := func(file string) bool {
		for caller, text := range callers {
			if caller != file && (strings.Contains(text, file) || path.Dir(caller) == path.Dir(file) && strings.Contains(text, "$here/"+path.Base(file))) {
				return true
			}
		}
		return false
	}
	for _, file := range append(glob(t, ".ci/*"), glob(t, ".ci/*/*")...) {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 || file == ".ci/run" || stageName(t, file) != "" {
			continue
		}
		if !called(file) {
			t.Errorf("%s is no stage, and no other file calls it", file)
		}
	}
	for _, module := range modules(t) {
		named := regexp.MustCompile(`(?:-C |cd |-modfile=\S*/|for module in .*)` + regexp.QuoteMeta(module) + `\b`)
		if module != "." && !slices.ContainsFunc(slices.Collect(maps.Values(callers)), named.MatchString) {
			t.Errorf("neither the Makefile nor a script uses the module %s", module)
		}
	}
}

// runs reports whether the command runs a test of a file.
func (c claim) runs(f testFile, name string) bool {
	if c.module != f.module || c.run != nil && !c.run.MatchString(name) {
		return false
	}
	if f.constraint != nil && !f.constraint.Eval(func(tag string) bool { return tag == "linux" || slices.Contains(c.tags, tag) }) {
		return false
	}
	return slices.ContainsFunc(c.packages, func(p string) bool { return matches(p, f.dir) }) && (c.except == "" || !matches(c.except, f.dir))
}

// matches reports whether a pattern of packages, such as ./a/..., has the directory.
func matches(pattern, dir string) bool {
	below, all := strings.CutSuffix(strings.TrimPrefix(pattern, "./"), "...")
	below = strings.TrimSuffix(below, "/")
	return dir == path.Clean(below) || all && (below == "" || strings.HasPrefix(dir, below+"/"))
}

// claims returns the commands of the stages, and those of the gate: of .ci/run, of the
// scripts that it calls, and of the Makefile's targets that one of them makes.
func claims(t *testing.T) (all []claim) {
	t.Helper()
	texts := map[string]string{".ci/run": readText(t, ".ci/run")}
	for _, script := range append(glob(t, ".ci/*/*"), glob(t, "sdk/*/check")...) { // the stage sdk runs the latter
		if path.Base(script) == "check" || stageName(t, script) != "" || strings.Contains(texts[".ci/run"], script) && !strings.HasSuffix(script, ".txt") {
			texts[script] = readText(t, script)
		}
	}
	variables, targets := makefile(t)
	for _, script := range slices.Sorted(maps.Keys(texts)) {
		for _, made := range regexp.MustCompile(`(?m)^[^#\n]*\bmake( [^\n|&;]*)`).FindAllStringSubmatch(texts[script], -1) {
			for word := range strings.FieldsSeq(made[1]) {
				if recipe, is := targets[word]; is {
					texts["make "+word] = recipe
				}
			}
		}
	}
	for by, text := range texts {
		for _, line := range strings.Split(strings.ReplaceAll(text, "\\\n", " "), "\n") {
			if !strings.HasPrefix(line, "#") {
				for name, value := range variables {
					line = strings.ReplaceAll(line, "$("+name+")", value)
				}
				if c, is := claimIn(t, by, line); is {
					all = append(all, c)
				}
			}
		}
	}
	return all
}

var (
	testCommand = regexp.MustCompile(`(?:\bgo test|netsim-dev"? test|\bNETSIM_DEV_BIN[})]?"? test)( .*)`)
	shellWord   = regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s'"]+`)
	withValue   = []string{"-C", "-tags", "-run", "-skip", "-timeout", "-p", "-fuzz", "-fuzztime", "-from", "-hours", "-rounds", "-bugs", "-exec", "-parallel", "-race=", "-except", "-seed", "-jars", "-dearest"}
)

// claimIn returns the command for tests in a line, if there is one.
func claimIn(t *testing.T, by, line string) (c claim, is bool) {
	t.Helper()
	found := testCommand.FindStringSubmatch(line)
	if found == nil {
		return c, false
	}
	c = claim{by: by, module: "."}
	words := shellWord.FindAllString(found[1], -1)
	for i := 0; i < len(words); i++ {
		word := strings.Trim(words[i], `'"`)
		if strings.ContainsAny(words[i][:1], "|&;>)") {
			break
		}
		name, value, has := strings.Cut(strings.Replace(word, "--", "-", 1), "=")
		ours := !strings.Contains(found[0][:len(found[0])-len(found[1])], "go test")
		if !has && (slices.Contains(withValue, name) || ours && name == "-race") && i+1 < len(words) {
			i++
			value = strings.Trim(words[i], `'"`)
		}
		switch {
		case name == "-C":
			c.module = value
		case name == "-tags":
			c.tags = strings.Split(value, ",")
		case name == "-run":
			if strings.Contains(value, "$(") {
				t.Fatalf("%s: the tests of %s are not known", by, line)
			}
			c.run = regexp.MustCompile(strings.ReplaceAll(value, "$$", "$"))
		case name == "-except":
			c.except = value
		case name == "-skip":
			t.Fatalf("%s leaves tests out by -skip: %s", by, line)
		case strings.HasPrefix(name, "./"):
			c.packages = append(c.packages, name)
		}
	}
	return c, len(c.packages) > 0
}

// makefile returns the variables and the recipes of the Makefile.
func makefile(t *testing.T) (variables, targets map[string]string) {
	t.Helper()
	variables, targets = map[string]string{}, map[string]string{}
	target := ""
	for line := range strings.Lines(readText(t, "Makefile")) {
		if strings.HasPrefix(line, "\t") {
			targets[target] += line
		} else if m := regexp.MustCompile(`^([\w-]+):`).FindStringSubmatch(line); m != nil {
			target = m[1]
			targets[target] = ""
		} else if m := regexp.MustCompile(`^(?:export )?(\w+) = (.*)`).FindStringSubmatch(line); m != nil {
			variables[m[1]] = m[2]
		}
	}
	return variables, targets
}

// stageName returns the name of the stage whose script the file is, or "".
func stageName(t *testing.T, file string) string {
	t.Helper()
	if path.Base(file) != "run" || file == ".ci/run" || !strings.Contains(readText(t, file), "\n# depends:") {
		return ""
	}
	return path.Base(path.Dir(file))
}

// testFile is a file with tests.
type testFile struct {
	path, module, dir string // the directory is that of the package, in the module
	constraint        constraint.Expr
	tests             []string
}

// simulated reports whether the file is part of a program that is simulated.
func (f *testFile) simulated() bool {
	return f.constraint != nil && f.constraint.String() == "faketime"
}

func testFiles(t *testing.T) (all []testFile) {
	t.Helper()
	owners := modules(t)
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && file != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata") {
			return fs.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(file, "_test.go") {
			return nil
		}
		f := testFile{path: file}
		for _, module := range owners {
			if module == "." || strings.HasPrefix(file, module+"/") {
				f.module, f.dir = module, path.Dir(strings.TrimPrefix(file, module+"/"))
				break
			}
		}
		text := readText(t, file)
		if first, _, _ := strings.Cut(text, "\n"); constraint.IsGoBuild(first) {
			if f.constraint, err = constraint.Parse(first); err != nil {
				return err
			}
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, declared := range parsed.Decls {
			if function, is := declared.(*ast.FuncDecl); is && function.Recv == nil && testName.MatchString(function.Name.Name) && function.Name.Name != "TestMain" {
				f.tests = append(f.tests, function.Name.Name)
			}
		}
		if len(f.tests) > 0 {
			all = append(all, f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 500 {
		t.Errorf("only %d files have tests", len(all))
	}
	return all
}

var testName = regexp.MustCompile(`^(?:Test|Fuzz|Example)(?:[^a-z]|$)`)

// modules returns the directories of the modules, those within another first.
func modules(t *testing.T) (all []string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "ls-files", "--", "go.mod", "*/go.mod").Output()
	if err != nil {
		t.Fatal(err)
	}
	for file := range strings.FieldsSeq(string(out)) {
		all = append(all, path.Dir(file))
	}
	slices.Sort(all)
	slices.Reverse(all)
	return all
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
