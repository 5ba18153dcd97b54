package netsim_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every shipped file cites only shipped files, by path or name, and existing sections
// of the requirements, by number. It cites no internal page of the authors.
func TestNothingCitesWhatIsNotShipped(t *testing.T) {
	t.Parallel()
	texts := shippedTexts(t)
	here := map[string]bool{} // every path and every suffix of a path, down to the file name
	for file := range texts {
		for rest, more := file, true; more; _, rest, more = strings.Cut(rest, "/") {
			here[rest] = true
		}
	}
	sections := headings(texts["docs/requirements/completions.md"])
	for file, text := range texts {
		for _, cited := range citedFiles(file, text) {
			if !here[cited] && !here[path.Join(path.Dir(file), cited)] && !made[path.Base(cited)] {
				t.Errorf("%s cites %s, which is not shipped", file, cited)
			}
		}
		for _, numbers := range citedSections.FindAllStringSubmatch(text, -1) {
			for _, number := range sectionNumber.FindAllString(numbers[1], -1) {
				if !sections[number] {
					t.Errorf("%s cites section %s of the completions, which does not exist", file, number)
				}
			}
		}
		if page := privatePage.FindString(text); page != "" && file != "citations_test.go" {
			t.Errorf("%s cites %q, an internal page", file, page)
		}
	}
}

var (
	citedMarkdown = regexp.MustCompile(`\]\(([^)#: ]+)[^): ]*\)`)
	citedName     = regexp.MustCompile(`(?:[\w.-]+/)*[\w-]+(?:\.[\w-]+)*\.md\b`)
	citedPath     = regexp.MustCompile(`\b(?:docs|api|bench|fault|commands|events|projections|reactions|writeapi|readapi|rating|prices|audit|focus|uploads|library|traces|runs|execution|simulator|infra|internal|cmd)/[\w./-]*\w\.(?:go|py|sql|json|csv|yaml|txt|sh)\b`)
	citedSections = regexp.MustCompile(`(?i)completions(?:\.md)?,?\s+(?://\s+)?(?:sections?\s+)?(\d[\d., and]*)`)
	sectionNumber = regexp.MustCompile(`\b\d+(?:\.\d+)?\b`)
	privatePage   = regexp.MustCompile(`/work/|\bshared/spec\b|\b(?:DESIGN|FACTS|STYLE|COMPONENTS|LOG)(?:\.md| section)`)
)

// made lists names of files that programs and clients create.
var made = map[string]bool{"comm_groups.json": true}

// citedFiles returns the files that a text cites: the targets of links in Markdown,
// and the names of Markdown pages and paths from the root in every file.
func citedFiles(file, text string) (cited []string) {
	if path.Ext(file) == ".md" {
		for _, link := range citedMarkdown.FindAllStringSubmatch(text, -1) {
			cited = append(cited, path.Join(path.Dir(file), link[1]))
		}
	}
	cited = append(cited, citedName.FindAllString(text, -1)...)
	return append(cited, citedPath.FindAllString(text, -1)...)
}

// headings returns the numbers of a page's sections.
func headings(page string) map[string]bool {
	found := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (\d+(?:\.\d+)?)\b`).FindAllStringSubmatch(page, -1) {
		found[heading[1]] = true
	}
	return found
}

// shippedTexts maps the path of every file and folder of the repository to its text,
// which is "" unless it is a text file.
func shippedTexts(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "bin" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && file != "." && d.Name() != ".ci"):
			return filepath.SkipDir
		}
		texts[filepath.ToSlash(file)] = ""
		script := strings.HasPrefix(file, ".ci") && !d.IsDir() || d.Name() == "Makefile"
		switch ext := filepath.Ext(file); {
		case script, slices.Contains([]string{".go", ".md", ".yaml", ".sql", ".py", ".sh"}, ext):
			text, err := os.ReadFile(file) //nolint:gosec // a file of the repository
			texts[filepath.ToSlash(file)] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}
