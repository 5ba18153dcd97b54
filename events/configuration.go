package events

// configurationEvents lists the events of configurations.
func configurationEvents() []entry {
	return []entry{
		of[ConfigurationCreated](),
		of[ConfigurationUpdated](),
		of[ConfigurationComponentAdded](),
		of[ConfigurationComponentRemoved](),
		of[ConfigurationReferenceSet](),
		of[ConfigurationReferenceRemoved](),
		of[ConfigurationParametersPatched](),
		of[ConfigurationTracesetAttached](),
		of[ConfigurationTracesetDetached](),
		of[ConfigurationMappingFileAttached](),
		of[ConfigurationMappingFileDetached](),
		of[ConfigurationValidated](),
		of[ConfigurationDeleted](),
	}
}

// ConfigurationCreated records version 1 of a configuration.
// Source: completions 3, 8 row 6.
type ConfigurationCreated struct {
	AccountID             string `json:"accountId"`
	WorkspaceID           string `json:"workspaceId"`
	Name                  string `json:"name"`
	Document              string `json:"document"` // canonical JSON text of the document, see simulator/document
	ComponentCount        int64  `json:"componentCount"`
	Status                string `json:"status"` // draft, or validated for a simple submission
	Findings              string `json:"findings,omitempty"`
	TracesetID            string `json:"tracesetId,omitempty"`
	RankCount             int64  `json:"rankCount,omitempty"` // of the traceset
	ParentConfigurationID string `json:"parentConfigurationId,omitempty"`
	Category              string `json:"category,omitempty"` // templates only
	Description           string `json:"description,omitempty"`
	Visibility            string `json:"visibility,omitempty"` // templates only: account or public; absent: public
}

// ConfigurationUpdated records that whole members of a configuration, or its name,
// were replaced. Every change of a configuration makes a version.
type ConfigurationUpdated struct {
	Version        int64            `json:"version"`           // the new one
	Name           string           `json:"name,omitempty"`    // absent: unchanged
	Members        []DocumentMember `json:"members,omitempty"` // those that changed
	ComponentCount int64            `json:"componentCount"`
	TracesetID     string           `json:"tracesetId,omitempty"` // absent: unchanged
	RankCount      int64            `json:"rankCount,omitempty"`  // of that traceset
}

// DocumentMember is one member of a configuration's document.
type DocumentMember struct {
	Member string `json:"member"` // applications, components, containers, links, topology, globalParameters
	Value  string `json:"value"`  // canonical JSON text
}

// ConfigurationComponentAdded records that an application, a component, a
// container or a link was declared.
type ConfigurationComponentAdded struct {
	Version     int64               `json:"version"`
	Collection  string              `json:"collection"`       // applications, components, containers or links
	Declaration string              `json:"declaration"`      // canonical JSON text
	Shares      []DistributionShare `json:"shares,omitempty"` // the entries of a non-coordinated application
}

// DistributionShare is the share of one entry of the distribution of applications.
type DistributionShare struct {
	Name              string `json:"name,omitempty"` // of a new entry
	ParentApplication string `json:"parentApplication"`
	ApplicationType   string `json:"applicationType,omitempty"` // client or server, of a new entry
	DistributionID    string `json:"distributionId"`
	Value             string `json:"value"` // decimal, 0 to 1
}

// ConfigurationComponentRemoved records that a declaration was removed, with the
// references to it and its entries in the distribution.
type ConfigurationComponentRemoved struct {
	Version    int64               `json:"version"`
	Collection string              `json:"collection"`
	Name       string              `json:"name"`
	References []ReferenceHolder   `json:"references,omitempty"` // where it was referenced
	Shares     []DistributionShare `json:"shares,omitempty"`     // the rescaled remaining entries
}

// ReferenceHolder names a holder of references.
type ReferenceHolder struct {
	HolderKind string `json:"holderKind"`       // topology, rack, pod or server
	Holder     string `json:"holder,omitempty"` // its name; absent for the topology
}

// ConfigurationReferenceSet records that a reference to a declared component was
// added to a holder, or changed.
type ConfigurationReferenceSet struct {
	Version               int64  `json:"version"`
	HolderKind            string `json:"holderKind"` // topology, rack, pod or server
	Holder                string `json:"holder,omitempty"`
	Name                  string `json:"name"` // of the referenced component
	Type                  string `json:"type"`
	Count                 int64  `json:"count"`
	Group                 string `json:"group,omitempty"`
	Model                 string `json:"model,omitempty"`
	ModelVersion          string `json:"modelVersion,omitempty"`
	ParentApplicationName string `json:"parentApplicationName,omitempty"`
}

// ConfigurationReferenceRemoved records that a reference was removed from a holder.
type ConfigurationReferenceRemoved struct {
	Version    int64  `json:"version"`
	HolderKind string `json:"holderKind"`
	Holder     string `json:"holder,omitempty"`
	Name       string `json:"name"`
}

// ConfigurationParametersPatched records that parameter values, or a share of the
// distribution, were replaced.
type ConfigurationParametersPatched struct {
	Version    int64               `json:"version"`
	TargetKind string              `json:"targetKind"`       // application, component, link, global or distribution
	Target     string              `json:"target,omitempty"` // a name; absent for global and distribution
	Patch      string              `json:"patch,omitempty"`  // canonical JSON text: the tree of the changed leaves
	Shares     []DistributionShare `json:"shares,omitempty"` // the replaced shares
}

// ConfigurationTracesetAttached records that the chakra application replays a
// traceset.
type ConfigurationTracesetAttached struct {
	Version    int64  `json:"version"`
	TracesetID string `json:"tracesetId"`
	RankCount  int64  `json:"rankCount"`
}

// ConfigurationTracesetDetached records that the chakra application no longer
// replays a traceset.
type ConfigurationTracesetDetached struct {
	Version int64 `json:"version"`
}

// ConfigurationMappingFileAttached records that a mapping file places the ranks of
// the chakra applications.
type ConfigurationMappingFileAttached struct {
	Version       int64  `json:"version"`
	MappingFileID string `json:"mappingFileId"`
}

// ConfigurationMappingFileDetached records that no mapping file places the ranks of
// the chakra applications any more.
type ConfigurationMappingFileDetached struct {
	Version int64 `json:"version"`
}

// ConfigurationValidated records the result of validating a version, unless the
// same result is recorded already.
type ConfigurationValidated struct {
	Version  int64  `json:"version"`
	Status   string `json:"status"`   // validated or invalid
	Findings string `json:"findings"` // canonical JSON text of the findings
}

// ConfigurationDeleted records that a configuration was deleted.
type ConfigurationDeleted struct {
	Reason string `json:"reason"` // request or workspace
}

func (ConfigurationCreated) EventType() string { return "netsim.configuration.created.v1" }
func (ConfigurationUpdated) EventType() string { return "netsim.configuration.updated.v1" }
func (ConfigurationComponentAdded) EventType() string {
	return "netsim.configuration.component_added.v1"
}

func (ConfigurationComponentRemoved) EventType() string {
	return "netsim.configuration.component_removed.v1"
}

func (ConfigurationReferenceSet) EventType() string { return "netsim.configuration.reference_set.v1" }
func (ConfigurationReferenceRemoved) EventType() string {
	return "netsim.configuration.reference_removed.v1"
}

func (ConfigurationParametersPatched) EventType() string {
	return "netsim.configuration.parameters_patched.v1"
}

func (ConfigurationTracesetAttached) EventType() string {
	return "netsim.configuration.traceset_attached.v1"
}

func (ConfigurationTracesetDetached) EventType() string {
	return "netsim.configuration.traceset_detached.v1"
}

func (ConfigurationMappingFileAttached) EventType() string {
	return "netsim.configuration.mapping_file_attached.v1"
}

func (ConfigurationMappingFileDetached) EventType() string {
	return "netsim.configuration.mapping_file_detached.v1"
}
func (ConfigurationValidated) EventType() string { return "netsim.configuration.validated.v1" }
func (ConfigurationDeleted) EventType() string   { return "netsim.configuration.deleted.v1" }
