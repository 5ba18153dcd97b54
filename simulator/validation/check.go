package validation

import (
	"fmt"
	"maps"
	"slices"

	"netsim/simulator/catalogue"
	"netsim/simulator/document"
	"netsim/simulator/topology"
)

// Check returns the findings about a document. The same document gives the same
// findings in the same order.
func Check(d *document.Document, with Attachments) []Finding {
	findings, _ := Survey(d, with)
	return findings
}

// Survey returns the findings of Check, and the network that it unfolded. The network is
// nil if an error prevented that.
func Survey(d *document.Document, with Attachments) ([]Finding, *topology.Fabric) {
	c := checker{
		doc: d, traceset: with.Traceset, mapping: with.MappingFile, all: declarations(d), declared: map[string]*declaration{}, reached: Reachable(d),
		models: map[string]*model{}, count: map[string]int{}, extents: map[string]extent{},
	}
	if a, _ := c.workload(); a != nil {
		c.chakra, c.group = true, number(a.TypedParameters, pathGroup)
	}
	c.declare()
	c.parameters("", "$.globalParameters", d.GlobalParameters, newModel(catalogue.Entry{Parameters: catalogue.Globals()}))
	c.references()
	c.unreferenced()
	c.servers()
	c.topology()
	c.applications()
	c.summarizeOmitted()
	return c.findings, c.fabric
}

type checker struct {
	doc      *document.Document
	traceset *Traceset
	mapping  *MappingFile
	all      []*declaration // in the order of declarations
	declared map[string]*declaration
	reached  map[string]bool
	models   map[string]*model // by reference
	extents  map[string]extent // of containers and servers, by name
	fabric   *topology.Fabric
	chakra   bool    // there is a chakra application
	group    float64 // its logical group

	findings []Finding
	count    map[string]int // findings by code, including omitted ones
	broken   bool           // there is an error
	unsound  bool           // errors leave the size of the network unknown
}

// position is the part of the document that a finding is about.
type position struct{ component, parameter, path string }

func (c *checker) report(severity, code string, at position, format string, args []any) {
	c.broken = c.broken || severity == Error
	if c.count[code]++; c.count[code] > maxOfCode {
		return
	}
	c.findings = append(c.findings, Finding{
		Code: code, Severity: severity, Component: at.component, Parameter: at.parameter, Path: at.path,
		Message: fmt.Sprintf(format, args...),
	})
}

func (c *checker) err(code string, at position, format string, args ...any) {
	c.report(Error, code, at, format, args)
}

func (c *checker) warn(code string, at position, format string, args ...any) {
	c.report(Warning, code, at, format, args)
}

func (c *checker) info(code string, at position, format string, args ...any) {
	c.report(Info, code, at, format, args)
}

// summarizeOmitted adds a finding for each code that has more findings than the report
// lists. All findings of a code have the same severity.
func (c *checker) summarizeOmitted() {
	for _, code := range sortedKeys(c.count) {
		if n := c.count[code] - maxOfCode; n > 0 {
			i := slices.IndexFunc(c.findings, func(f Finding) bool { return f.Code == code })
			c.findings = append(c.findings, Finding{
				Code: code, Severity: c.findings[i].Severity,
				Message: fmt.Sprintf("%d more findings of this kind are left out; correct the listed ones and validate again", n),
			})
		}
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
