package commands

import "netsim/events"

// The states of a configuration version (completions 3.4).
const (
	Draft     = "draft"
	Validated = "validated"
	Invalid   = "invalid"
)

// Configuration is what decisions about a configuration need.
type Configuration struct {
	created
	AccountID   string `json:"accountId,omitempty"`
	WorkspaceID string `json:"workspaceId,omitempty"`
	Version     int64  `json:"version,omitempty"`
	Status      string `json:"status,omitempty"`
	Findings    string `json:"findings,omitempty"`
	Document    string `json:"document,omitempty"`
	TracesetID  string `json:"tracesetId,omitempty"`
	Deleted     bool   `json:"deleted,omitempty"`
}

// Evolve applies an event.
func (c *Configuration) Evolve(e events.Event) {
	switch d := e.Data.(type) {
	case events.ConfigurationCreated:
		c.Exists, c.AccountID, c.WorkspaceID = true, d.AccountID, d.WorkspaceID
		c.Version, c.Status, c.Findings = 1, d.Status, d.Findings
		c.Document, c.TracesetID = d.Document, d.TracesetID
	case events.ConfigurationValidated:
		c.Status, c.Findings = d.Status, d.Findings
	case events.ConfigurationDeleted:
		*c = Configuration{created: c.created, AccountID: c.AccountID, WorkspaceID: c.WorkspaceID, Deleted: true}
	}
}
