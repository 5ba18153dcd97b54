package projections

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/columns"
	"netsim/simulator/document"
)

// Configuration is a row of the configurations: the newest version.
type Configuration struct {
	ID                    string
	AccountID             string
	WorkspaceID           string
	Name                  string
	Status                string
	Version               int64
	ComponentCount        int64
	Document              string // canonical JSON
	Findings              string
	TracesetID            string
	MappingFileID         string
	ParentConfigurationID string
	Category              string
	Description           string
	Visibility            string // of templates: commands.VisibleToAccount or commands.VisibleToAll
	Deleted               bool
	CreatedAt             time.Time
	ModifiedAt            time.Time
}

// Configurations is the projection of the configurations and their versions.
type Configurations struct {
	table[Configuration]

	versions []*ConfigurationVersion // made by the batch, in the order of its facts
}

// NewConfigurations returns the projection.
func NewConfigurations() *Configurations {
	p := &Configurations{}
	p.table = table[Configuration]{
		name: "configurations", file: "configurations.sql", columns: configurationColumns,
		keyOf: streamOf(events.ConfigurationPrefix), first: begins, insertsNew: true,
		fold: p.fold,
	}
	return p
}

var configurationColumns = columns.Of[Configuration]()

// fold applies a fact, and collects the version that it makes.
func (p *Configurations) fold(c *Configuration, f *events.Fact) {
	before := c.Version
	foldConfiguration(c, f)
	if c.Version == before && !begins(f) {
		return
	}
	p.versions = append(p.versions, &ConfigurationVersion{
		ConfigurationID: c.ID, Version: c.Version, Status: c.Status, Document: c.Document,
		TracesetID: c.TracesetID, MappingFileID: c.MappingFileID, CreatedAt: c.ModifiedAt,
	})
}

// foldConfiguration applies a change with the Evolve of the write state, so clients
// read the state that commands decide on.
func foldConfiguration(c *Configuration, f *events.Fact) {
	switch d := f.Data.(type) {
	case events.ConfigurationCreated:
		*c = Configuration{
			ID: f.Stream, AccountID: d.AccountID, WorkspaceID: d.WorkspaceID, Name: d.Name,
			Status: d.Status, Version: 1, ComponentCount: d.ComponentCount, Document: d.Document,
			Findings: d.Findings, TracesetID: d.TracesetID, ParentConfigurationID: d.ParentConfigurationID,
			Category: d.Category, Description: d.Description, CreatedAt: f.Time, ModifiedAt: f.Time,
			Visibility: cmp.Or(d.Visibility, commands.VisibleToAll),
		}
	case events.ConfigurationDeleted:
		c.Deleted, c.ModifiedAt = true, f.Time
	default:
		s := commands.Configuration{
			Name: c.Name, Version: c.Version, Status: c.Status, Findings: c.Findings,
			Document: c.Document, TracesetID: c.TracesetID, MappingFile: c.MappingFileID,
		}
		s.Evolve(f.Event)
		c.change(&s, f.Time)
		c.ComponentCount = componentCount(c.ComponentCount, f.Data)
	}
}

// change copies the fields that a change can affect, except ComponentCount, from
// the write state after the change.
func (c *Configuration) change(s *commands.Configuration, at time.Time) {
	c.Name, c.Version, c.Status, c.Findings = s.Name, s.Version, s.Status, s.Findings
	c.Document, c.TracesetID, c.MappingFileID = s.Document, s.TracesetID, s.MappingFile
	c.ModifiedAt = at
}

// After returns the row after an event that created or changed the configuration. s
// is the write state after the event, c the row at any time before it.
func (c Configuration) After(e *events.Event, s *commands.Configuration) (Configuration, error) {
	if e.Sequence == 1 {
		return begun(foldConfiguration, e), nil
	}
	doc, err := document.Parse(s.Document)
	if err != nil {
		return c, fmt.Errorf("configuration %s: %w", c.ID, err)
	}
	c.change(s, e.Time)
	c.ComponentCount = int64(doc.ComponentCount()) // c may lack earlier changes, so its count may be wrong
	return c, nil
}

// componentCount is the number of declared components after a fact.
func componentCount(before int64, data events.Data) int64 {
	switch d := data.(type) {
	case events.ConfigurationUpdated:
		return d.ComponentCount
	case events.ConfigurationComponentAdded:
		if d.Collection == document.Components {
			return before + 1
		}
	case events.ConfigurationComponentRemoved:
		if d.Collection == document.Components {
			return before - 1
		}
	}
	return before
}

// Apply implements Projection.
func (p *Configurations) Apply(writes *columns.Writes, facts []events.Fact) error {
	p.versions = nil
	var counts workspaceCounts
	p.apply(writes, facts, func(before, after *Configuration) {
		counts.add(after.WorkspaceID, after.AccountID, liveOf(after)-liveOf(before), 0, before == nil)
	})
	configurationVersionColumns.Upsert(writes, "configuration_versions", p.versions, nil, "ON CONFLICT DO NOTHING")
	queueVersionStatuses(writes, facts)
	counts.queue(writes, "configuration_counts")
	return nil
}

func liveOf(c *Configuration) int64 {
	if c == nil || c.Deleted {
		return 0
	}
	return 1
}

// versionStatus is the status that validation gave a version.
type versionStatus struct {
	ConfigurationID string
	Version         int64
	Status          string
}

var versionStatusColumns = columns.Of[versionStatus]()

// queueVersionStatuses queues the last status that validation gave each version
// in the batch.
func queueVersionStatuses(writes *columns.Writes, facts []events.Fact) {
	type version struct {
		configuration string
		number        int64
	}
	seen := map[version]bool{}
	var last []*versionStatus
	for _, f := range slices.Backward(facts) {
		d, ok := f.Data.(events.ConfigurationValidated)
		if v := (version{f.Stream, d.Version}); ok && !seen[v] {
			seen[v] = true
			last = append(last, &versionStatus{f.Stream, d.Version, d.Status})
		}
	}
	if len(last) > 0 {
		writes.Queue(`
			UPDATE configuration_versions v SET status = u.status FROM `+versionStatusColumns.From("u")+`
			WHERE v.configuration_id = u.configuration_id AND v.version = u.version`, versionStatusColumns.Arrays(last)...)
	}
}
