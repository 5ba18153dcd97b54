package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func TestIndexesAreUpToDate(t *testing.T) {
	t.Parallel()
	const docs = "../.."
	files, err := indexes(os.DirFS(docs))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		text, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil || string(text) != want {
			t.Errorf("docs/%s is out of date; run go generate ./docs/internal/index (%v)", name, err)
		}
	}
}

func TestEveryPageIsListed(t *testing.T) {
	t.Parallel()
	const generated = "<!-- Generated. -->\n"
	pages := map[string]string{
		"deploying.md":                "# Deploying\n\n*For operators: how to deploy.*\n\nText.",
		"events.md":                   generated + "# Events\n*For clients: the types.*\n",
		"studies/README.md":           "# Questions\n\n*For clients: answers.*\n",
		"studies/prices.md":           "# Prices\n\nIts first page lists it.",
		"requirements/completions.md": "# As it was written\n",
		"adr/README.md":               decisionsHead,
		"adr/0008-a-worker-holds-a-lock-for-each-job.md": "# 8. A choice\n\nStatus: accepted · 2026-11-21 · supersedes another\n",
	}
	files, err := indexes(folder(pages))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"README.md": "\n## For clients\n\n- [Events](events.md): the types.\n- [Questions](studies/README.md): answers.\n" +
			"\n## For analysts\n\n\n## For auditors\n\n\n## For operators\n\n- [Deploying](deploying.md): how to deploy.\n" +
			"\n## For contributors\n\n- [Decisions](adr/README.md): what was decided",
		"adr/README.md": "\n| 8 | [A choice](0008-a-worker-holds-a-lock-for-each-job.md) | 2026-11-21 |\n",
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s lacks %q:\n%s", name, want, files[name])
		}
	}

	for name, text := range map[string]string{
		"feed.md": "# No reader\n\nText.",
		"lake.md": "# Another reader\n\n*For people: a page.*\n",
		"log.md":  "*For clients: a page without a title.*\n",
		"adr/0009-concurrent-look-ups-share-queries.md": "# 10. Another number\n\nStatus: accepted · 2026-11-21\n",
		"adr/0010-an-edit-is-an-event.md":               "# 10. No status\n\n**Context.** None.\n",
		"adr/0011-content-is-kept-under-a-lock.md":      "# No number\n\nStatus: accepted · 2026-11-21\n",
	} {
		more := maps.Clone(pages)
		more[name] = text
		if _, err := indexes(folder(more)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("with %s: got %v, want an error that names it", name, err)
		}
	}
}

func folder(pages map[string]string) fstest.MapFS {
	files := fstest.MapFS{}
	for name, text := range pages {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}
