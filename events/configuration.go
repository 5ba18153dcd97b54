package events

// ConfigurationCreated records version 1 of a configuration.
// Source: completions 3, 8 row 6.
type ConfigurationCreated struct {
	AccountID             string `json:"accountId"`
	WorkspaceID           string `json:"workspaceId"`
	Name                  string `json:"name"`
	Document              string `json:"document"` // canonical JSON text of the document, see simulator/design
	ComponentCount        int64  `json:"componentCount"`
	Status                string `json:"status"` // draft, or validated for a simple submission
	Findings              string `json:"findings,omitempty"`
	TracesetID            string `json:"tracesetId,omitempty"`
	ParentConfigurationID string `json:"parentConfigurationId,omitempty"`
	Category              string `json:"category,omitempty"` // templates only
	Description           string `json:"description,omitempty"`
}

// ConfigurationValidated records a validation verdict other than the one
// already recorded for the version.
type ConfigurationValidated struct {
	Version  int64  `json:"version"`
	Status   string `json:"status"`   // validated or invalid
	Findings string `json:"findings"` // canonical JSON text of the findings
}

// ConfigurationDeleted records that a configuration is gone.
type ConfigurationDeleted struct {
	Reason string `json:"reason"` // request or workspace
}

func (ConfigurationCreated) EventType() string   { return "netsim.configuration.created.v1" }
func (ConfigurationValidated) EventType() string { return "netsim.configuration.validated.v1" }
func (ConfigurationDeleted) EventType() string   { return "netsim.configuration.deleted.v1" }
