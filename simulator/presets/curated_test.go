package presets_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"netsim/simulator/collective"
	"netsim/simulator/document"
	"netsim/simulator/presets"
	"netsim/simulator/validation"
)

func curated(t *testing.T) []presets.Template {
	t.Helper()
	all, err := presets.Curated()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestCuratedTemplatesStay: a name and a revision always identify the same
// template. To change a template, give it a new revision and run the
// test with -learn.
func TestCuratedTemplatesStay(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	for _, c := range curated(t) {
		text, err := document.Canonical(c)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&lines, "%s, revision %d: %x\n", c.Name, c.Revision, sha256.Sum256([]byte(text)))
	}
	golden(t, "testdata/curated.txt", lines.String())
}

// TestCuratedTemplatesAreValid: a curated template has neither errors nor
// warnings once its traceset is ready.
func TestCuratedTemplatesAreValid(t *testing.T) {
	t.Parallel()
	categories, names := map[string]int{}, map[string]bool{}
	for _, c := range curated(t) {
		categories[c.Category]++
		if names[c.Name] || c.Name == "" || c.Description == "" || c.Revision < 1 {
			t.Errorf("template %+v: want a unique name, a description and a revision of at least 1", c)
		}
		names[c.Name] = true
		ranks := collective.Ranks(c.Workload.Groups)
		findings := validation.Check(c.Document, validation.Attachments{Traceset: &validation.Traceset{Status: "ready", Ranks: int64(ranks)}})
		for _, f := range findings {
			if f.Severity != validation.Info {
				t.Errorf("%s: %+v", c.Name, f)
			}
		}
	}
	for _, want := range []string{presets.GettingStarted, presets.Benchmark, presets.ReferenceDesign, presets.WhatIf} {
		if categories[want] == 0 {
			t.Errorf("no template of category %s", want)
		}
	}
	if len(categories) != 4 {
		t.Errorf("categories %v, want 4", categories)
	}
}
