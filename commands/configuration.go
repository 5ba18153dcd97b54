package commands

import (
	"strconv"

	"netsim/events"
	"netsim/simulator/document"
	"netsim/simulator/mapping"
)

// The states of a configuration version (completions 3.4).
const (
	Draft     = "draft"
	Validated = "validated"
	Invalid   = "invalid"
)

// Configuration is the state that decisions about a configuration need.
type Configuration struct {
	created
	AccountID   string `json:"accountId,omitempty"`
	WorkspaceID string `json:"workspaceId,omitempty"`
	Name        string `json:"name,omitempty"`
	Version     int64  `json:"version,omitempty"`
	Status      string `json:"status,omitempty"`
	Findings    string `json:"findings,omitempty"`
	Document    string `json:"document,omitempty"` // canonical JSON
	TracesetID  string `json:"tracesetId,omitempty"`
	RankCount   int64  `json:"rankCount,omitempty"`   // of the traceset
	MappingFile string `json:"mappingFile,omitempty"` // its id
	Deleted     bool   `json:"deleted,omitempty"`
}

// Evolve applies an event.
func (c *Configuration) Evolve(e events.Event) {
	switch d := e.Data.(type) {
	case events.ConfigurationCreated:
		c.Exists, c.AccountID, c.WorkspaceID, c.Name = true, d.AccountID, d.WorkspaceID, d.Name
		c.Version, c.Status, c.Findings = 1, d.Status, d.Findings
		c.Document, c.TracesetID, c.RankCount = d.Document, d.TracesetID, d.RankCount
		if c.TracesetID != "" && c.RankCount == 0 { // an event from before rankCount was recorded
			c.RankCount = rankCountOf(c.Document)
		}
	case events.ConfigurationUpdated:
		c.update(d)
	case events.ConfigurationComponentAdded:
		c.revise(d.Version, func(doc *document.Document) { addComponent(doc, d) })
	case events.ConfigurationComponentRemoved:
		c.revise(d.Version, func(doc *document.Document) { doc.Remove(d.Name); setShares(doc, d.Shares) })
	case events.ConfigurationReferenceSet:
		c.revise(d.Version, func(doc *document.Document) { doc.SetReference(d.Holder, referenceOf(d)) })
	case events.ConfigurationReferenceRemoved:
		c.revise(d.Version, func(doc *document.Document) { doc.RemoveReference(d.Holder, d.Name) })
	case events.ConfigurationParametersPatched:
		c.revise(d.Version, func(doc *document.Document) { patchParameters(doc, d) })
	case events.ConfigurationTracesetAttached:
		c.TracesetID, c.RankCount = d.TracesetID, d.RankCount
		c.revise(d.Version, func(doc *document.Document) { doc.SetRankCount(d.RankCount) })
	case events.ConfigurationTracesetDetached:
		c.TracesetID, c.RankCount = "", 0
		c.revise(d.Version, func(doc *document.Document) { doc.SetRankCount(0) })
	case events.ConfigurationMappingFileAttached:
		c.MappingFile = d.MappingFileID
		c.revise(d.Version, func(doc *document.Document) { doc.SetMapping(mapping.Name) })
	case events.ConfigurationMappingFileDetached:
		c.MappingFile = ""
		c.revise(d.Version, func(doc *document.Document) { doc.SetMapping("") })
	case events.ConfigurationValidated:
		c.Status, c.Findings = d.Status, d.Findings
	case events.ConfigurationDeleted:
		*c = Configuration{created: c.created, AccountID: c.AccountID, WorkspaceID: c.WorkspaceID, Deleted: true}
	}
}

// revise makes a new version, which is a draft. If the document or the change cannot
// be parsed, the document stays as it is, so that every reader of the log gets the
// same state.
func (c *Configuration) revise(version int64, change func(*document.Document)) {
	c.Version, c.Status, c.Findings = version, Draft, ""
	doc, err := document.Parse(c.Document)
	if err != nil {
		return
	}
	change(doc)
	if text, err := document.Canonical(doc); err == nil {
		c.Document = text
	}
}

// rankCountOf returns the rank count that a document's application is set to.
func rankCountOf(text string) int64 {
	doc, err := document.Parse(text)
	if err != nil {
		return 0
	}
	return doc.RankCount()
}

func (c *Configuration) update(d events.ConfigurationUpdated) {
	if d.Name != "" {
		c.Name = d.Name
	}
	if d.TracesetID != "" {
		c.TracesetID, c.RankCount = d.TracesetID, d.RankCount
	}
	c.revise(d.Version, func(doc *document.Document) {
		for _, m := range d.Members {
			_ = doc.Replace(m.Member, m.Value) // a value that cannot be parsed changes nothing
		}
	})
}

func addComponent(doc *document.Document, d events.ConfigurationComponentAdded) {
	_ = doc.Declare(d.Collection, d.Declaration) // a declaration that cannot be parsed changes nothing
	for _, s := range d.Shares {
		doc.AddShare(document.Entry{
			Name: s.Name, ParentApplication: s.ParentApplication, ApplicationType: s.ApplicationType,
			DistributionPercent: document.Percent{DistributionID: s.DistributionID, Value: shareOf(s)},
		})
	}
}

func patchParameters(doc *document.Document, d events.ConfigurationParametersPatched) {
	setShares(doc, d.Shares)
	stored, found := doc.Parameters(d.TargetKind, d.Target)
	if patch, err := document.ParseParams(d.Patch); found && err == nil {
		stored.Overlay(patch)
	}
}

func setShares(doc *document.Document, shares []events.DistributionShare) {
	for _, s := range shares {
		doc.SetShare(s.ParentApplication, s.DistributionID, shareOf(s))
	}
}

func shareOf(s events.DistributionShare) float64 {
	value, _ := strconv.ParseFloat(s.Value, 64) // decimalOf wrote it
	return value
}

// decimalOf formats a share so that it parses to the same number.
func decimalOf(share float64) string { return strconv.FormatFloat(share, 'f', -1, 64) }

func referenceOf(d events.ConfigurationReferenceSet) document.Ref {
	return document.Ref{
		Name: d.Name, Type: d.Type, Count: int(d.Count), Group: d.Group,
		Model: d.Model, Version: d.ModelVersion, ParentApplicationName: d.ParentApplicationName,
	}
}
