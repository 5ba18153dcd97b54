package netsim_test

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestStagesNameWhatTheyRunOn: each stage depends on every file of our packages that the Go
// programs and tests which it runs are built of.
func TestStagesNameWhatTheyRunOn(t *testing.T) {
	t.Parallel()
	packages := builtPackages(t)
	stored := lines(t, "git", "ls-tree", "-r", "--name-only", "HEAD")
	for _, stage := range stages(t) {
		files := lines(t, ".ci/stage", "--files", stage)
		script := readText(t, ".ci/"+stage+"/run")
		var needed []string
		if strings.Contains(script, "build_service") || strings.Contains(script, "# depends: @service\n") {
			needed = append(needed, packages["cmd/netsim"].program...)
		}
		if strings.Contains(script, "build_service") || strings.Contains(script, "build_stack") {
			needed = append(needed, packages["cmd/netsim-dev"].program...)
		}
		for _, c := range claims(t) {
			if c.by != ".ci/"+stage+"/run" {
				continue
			}
			for _, pattern := range c.packages {
				for dir, p := range packages {
					if in, is := strings.CutPrefix("./"+dir, "./"+strings.TrimPrefix(c.module+"/", "./")); is && matches(pattern, path.Clean(in)) {
						needed = append(needed, p.tests...)
					}
				}
			}
		}
		missing := map[string]bool{}
		for _, file := range needed {
			// The pages of the console change nothing that the service does: the stage console,
			// which depends on all of the console, is enough.
			pages := strings.HasPrefix(file, "console/dist/")
			if slices.Contains(stored, file) && !slices.Contains(files, file) && !pages {
				missing[path.Dir(file)+": "+path.Base(file)] = true
			}
		}
		for _, file := range slices.Sorted(maps.Keys(missing)) {
			t.Errorf("stage %s is built of, and does not depend on, %s", stage, file)
		}
	}
}

// TestStagesNamePathsThatExist: every pathspec of a stage matches a file.
func TestStagesNamePathsThatExist(t *testing.T) {
	t.Parallel()
	heads := map[string]string{}
	for _, stage := range stages(t) {
		heads[stage] = strings.Join(regexp.MustCompile(`(?m)^# depends: [^@\n].*$`).FindAllString(readText(t, ".ci/"+stage+"/run"), -1), "\n")
	}
	for _, file := range glob(t, ".ci/paths/*") {
		heads[file] = regexp.MustCompile(`(?m)^#.*$`).ReplaceAllString(readText(t, file), "")
	}
	for by, text := range heads {
		for word := range strings.FieldsSeq(text) {
			if word == "#" || word == "depends:" {
				continue
			}
			shown := regexp.MustCompile(`^:\(exclude(,glob)?\)`).ReplaceAllString(word, "")
			if strings.HasPrefix(word, ":(exclude,glob)") {
				shown = ":(glob)" + shown
			}
			if len(lines(t, "git", "ls-files", "--", shown)) == 0 {
				t.Errorf("%s names %s, which matches no file", by, word)
			}
		}
	}
}

// builtPackage has the files of a package and of those of our packages that it imports.
type builtPackage struct{ program, tests []string }

// builtPackages returns our packages by their directory, with the files under every tag.
func builtPackages(t *testing.T) map[string]builtPackage {
	t.Helper()
	type listed struct {
		Dir, ImportPath                                                                       string
		GoFiles, EmbedFiles, Deps                                                             []string
		TestGoFiles, XTestGoFiles, TestEmbedFiles, XTestEmbedFiles, TestImports, XTestImports []string
	}
	byPath, root := map[string]listed{}, lines(t, "git", "rev-parse", "--show-toplevel")[0]
	for _, folder := range []string{".", "prove", "cmd/netsim-dev"} {
		list := exec.CommandContext(t.Context(), "go", "list", "-C", folder, "-deps", "-tags", "tools,deploy,upgrade,simulation",
			"-json=Dir,ImportPath,GoFiles,EmbedFiles,Deps,TestGoFiles,XTestGoFiles,TestEmbedFiles,XTestEmbedFiles,TestImports,XTestImports", "./...")
		list.Stderr = t.Output()
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
			var p listed
			if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(p.ImportPath, module) {
				byPath[p.ImportPath] = p
			}
		}
	}
	under := func(p listed, names ...[]string) (files []string) {
		for _, name := range slices.Concat(names...) {
			files = append(files, strings.TrimPrefix(path.Join(p.Dir, name), root+"/"))
		}
		return files
	}
	program := func(p listed) []string {
		files := under(p, p.GoFiles, p.EmbedFiles)
		for _, dependency := range p.Deps {
			files = append(files, under(byPath[dependency], byPath[dependency].GoFiles, byPath[dependency].EmbedFiles)...)
		}
		return files
	}
	all := map[string]builtPackage{}
	for _, p := range byPath {
		b := builtPackage{program: program(p)}
		b.tests = append(slices.Clone(b.program), under(p, p.TestGoFiles, p.XTestGoFiles, p.TestEmbedFiles, p.XTestEmbedFiles)...)
		for _, imported := range slices.Concat(p.TestImports, p.XTestImports) {
			b.tests = append(b.tests, program(byPath[imported])...)
		}
		all[strings.TrimPrefix(strings.TrimPrefix(p.Dir, root), "/")] = b
	}
	return all
}

// TestPackagesOnApacheKafka: the tests of every package that starts a broker run on Apache
// Kafka, or .ci/kafka/exceptions.txt has the reason why not.
func TestPackagesOnApacheKafka(t *testing.T) {
	t.Parallel()
	var listed []claim
	for _, c := range claims(t) {
		if c.by == ".ci/kafka/run" {
			listed = append(listed, c)
		}
	}
	excepted := map[string]bool{}
	for line := range strings.Lines(readText(t, ".ci/kafka/exceptions.txt")) {
		if dir, reason, _ := strings.Cut(strings.TrimSpace(line), ": "); !strings.HasPrefix(line, "#") {
			if excepted[dir] = true; reason == "" {
				t.Errorf("the exception of %s has no reason", dir)
			}
		}
	}
	starts := regexp.MustCompile(`\bteststack\.(?:Broker|BrokerPart|KafkaCluster|StartSecureKafka)\(|\bteststack\.Start\(t, "(?:broker|kafka)"|\btestworld\.(?:New|NewServers)\(|\bservicetest\.(?:Start|StartLogged|Shared|Config)\(`)
	started := map[string]bool{}
	for _, file := range lines(t, "git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*_test.go", ":(exclude)prove") {
		if file != "stages_paths_test.go" && starts.MatchString(readText(t, file)) {
			started[path.Dir(file)] = true
		}
	}
	for dir := range started {
		runs := slices.ContainsFunc(listed, func(c claim) bool {
			return slices.ContainsFunc(c.packages, func(p string) bool { return matches(p, dir) })
		})
		if runs == excepted[dir] && dir != "deploy" { // deploy starts Apache Kafka by itself, in its own stage
			t.Errorf("%s starts a broker: it is run on Apache Kafka: %t, excepted: %t", dir, runs, excepted[dir])
		}
	}
	for dir := range excepted {
		if !started[dir] {
			t.Errorf("%s is excepted, and starts no broker", dir)
		}
	}
	for _, c := range listed {
		for _, p := range c.packages {
			if dir := path.Clean(p); !started[dir] {
				t.Errorf("%s runs on Apache Kafka, and starts no broker", dir)
			}
		}
	}
}

// stages returns the names of the stages.
func stages(t *testing.T) (names []string) {
	t.Helper()
	for _, script := range glob(t, ".ci/*/run") {
		if name := stageName(t, script); name != "" {
			names = append(names, name)
		}
	}
	if len(names) < 10 {
		t.Fatalf("there are %d stages", len(names))
	}
	return names
}

// lines runs a command and returns the lines that it prints.
func lines(t *testing.T, name string, args ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	text := strings.TrimSuffix(string(out), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
