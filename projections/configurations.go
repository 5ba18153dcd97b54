package projections

import (
	"cmp"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/commands"
	"netsim/events"
	"netsim/simulator/design"
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
	rows     table[Configuration]
	versions []Configuration // that the batch at hand made, in its order
}

// NewConfigurations returns the projection.
func NewConfigurations() *Configurations {
	p := &Configurations{}
	p.rows = table[Configuration]{
		name: "configurations", keys: 1, columns: configurationColumns,
		keyOf: streamOf(events.ConfigurationPrefix), first: begins, born: true,
		key:  func(c *Configuration) string { return c.ID },
		fold: p.fold,
	}
	return p
}

var configurationColumns = []column[Configuration]{
	{"id", "text", func(c *Configuration) any { return &c.ID }},
	{"account_id", "text", func(c *Configuration) any { return &c.AccountID }},
	{"workspace_id", "text", func(c *Configuration) any { return &c.WorkspaceID }},
	{"name", "text", func(c *Configuration) any { return &c.Name }},
	{"status", "text", func(c *Configuration) any { return &c.Status }},
	{"version", "bigint", func(c *Configuration) any { return &c.Version }},
	{"component_count", "bigint", func(c *Configuration) any { return &c.ComponentCount }},
	{"document", "text", func(c *Configuration) any { return &c.Document }},
	{"findings", "text", func(c *Configuration) any { return &c.Findings }},
	{"traceset_id", "text", func(c *Configuration) any { return &c.TracesetID }},
	{"mapping_file_id", "text", func(c *Configuration) any { return &c.MappingFileID }},
	{"parent_configuration_id", "text", func(c *Configuration) any { return &c.ParentConfigurationID }},
	{"category", "text", func(c *Configuration) any { return &c.Category }},
	{"description", "text", func(c *Configuration) any { return &c.Description }},
	{"visibility", "text", func(c *Configuration) any { return &c.Visibility }},
	{"deleted", "boolean", func(c *Configuration) any { return &c.Deleted }},
	{"created_at", "timestamptz", func(c *Configuration) any { return &c.CreatedAt }},
	{"modified_at", "timestamptz", func(c *Configuration) any { return &c.ModifiedAt }},
}

// fold folds a fact as decisions do, so that clients read what commands decide
// on, and keeps the versions that come of it.
func (p *Configurations) fold(c *Configuration, f *events.Fact) {
	before := c.Version
	switch d := f.Data.(type) {
	case events.ConfigurationCreated:
		*c = Configuration{
			ID: f.Stream, AccountID: d.AccountID, WorkspaceID: d.WorkspaceID, Name: d.Name,
			Status: d.Status, Version: 1, ComponentCount: d.ComponentCount, Document: d.Document,
			Findings: d.Findings, TracesetID: d.TracesetID, ParentConfigurationID: d.ParentConfigurationID,
			Category: d.Category, Description: d.Description, CreatedAt: f.Time,
			Visibility: cmp.Or(d.Visibility, commands.VisibleToAll),
		}
		before = 0
	case events.ConfigurationDeleted:
		c.Deleted = true
	default:
		s := commands.Configuration{
			Name: c.Name, Version: c.Version, Status: c.Status, Findings: c.Findings,
			Document: c.Document, TracesetID: c.TracesetID, MappingFile: c.MappingFileID,
		}
		s.Evolve(f.Event)
		c.Name, c.Version, c.Status, c.Findings = s.Name, s.Version, s.Status, s.Findings
		c.Document, c.TracesetID, c.MappingFileID = s.Document, s.TracesetID, s.MappingFile
		c.ComponentCount = componentCount(c.ComponentCount, f.Data)
	}
	c.ModifiedAt = f.Time
	if c.Version != before {
		p.versions = append(p.versions, *c)
	}
}

// componentCount is the number of declared components after a fact.
func componentCount(before int64, data events.Data) int64 {
	switch d := data.(type) {
	case events.ConfigurationUpdated:
		return d.ComponentCount
	case events.ConfigurationComponentAdded:
		if d.Collection == design.Components {
			return before + 1
		}
	case events.ConfigurationComponentRemoved:
		if d.Collection == design.Components {
			return before - 1
		}
	}
	return before
}

// Schema implements Projection.
func (p *Configurations) Schema() string { return schema("configurations.sql") }

// Load implements Projection.
func (p *Configurations) Load(reads *pgx.Batch, facts []events.Fact) { p.rows.load(reads, facts) }

// Apply implements Projection.
func (p *Configurations) Apply(writes *pgx.Batch, facts []events.Fact) error {
	p.versions = nil
	var counts workspaceCounts
	err := p.rows.apply(writes, facts, func(before, after *Configuration) {
		counts.add(after.WorkspaceID, after.AccountID, liveOf(after)-liveOf(before), 0)
	})
	queueVersions(writes, p.versions)
	queueVerdicts(writes, facts)
	counts.queue(writes, "configuration_counts")
	return err
}

func liveOf(c *Configuration) int64 {
	if c == nil || c.Deleted {
		return 0
	}
	return 1
}

// queueVersions queues the new versions.
func queueVersions(writes *pgx.Batch, made []Configuration) {
	if len(made) == 0 {
		return
	}
	writes.Queue(`
		INSERT INTO configuration_versions (configuration_id, version, status, document, traceset_id, mapping_file_id, created_at)
		SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[])
		ON CONFLICT DO NOTHING`,
		each(made, func(v Configuration) string { return v.ID }), each(made, func(v Configuration) int64 { return v.Version }),
		each(made, func(v Configuration) string { return v.Status }), each(made, func(v Configuration) string { return v.Document }),
		each(made, func(v Configuration) string { return v.TracesetID }), each(made, func(v Configuration) string { return v.MappingFileID }),
		each(made, func(v Configuration) time.Time { return v.ModifiedAt }))
}

// queueVerdicts queues the verdicts on versions, of which the last of a batch
// counts, so they are numbered.
func queueVerdicts(writes *pgx.Batch, facts []events.Fact) {
	type verdict struct {
		id, status string
		version    int64
	}
	var judged []verdict
	for i := range facts {
		if d, ok := facts[i].Data.(events.ConfigurationValidated); ok {
			judged = append(judged, verdict{facts[i].Stream, d.Status, d.Version})
		}
	}
	if len(judged) == 0 {
		return
	}
	writes.Queue(`
		UPDATE configuration_versions v SET status = u.status
		FROM (SELECT DISTINCT ON (id, number) id, number, status
		      FROM unnest($1::text[], $2::bigint[], $3::text[]) WITH ORDINALITY AS u (id, number, status, n)
		      ORDER BY id, number, n DESC) u
		WHERE v.configuration_id = u.id AND v.version = u.number`,
		each(judged, func(v verdict) string { return v.id }), each(judged, func(v verdict) int64 { return v.version }),
		each(judged, func(v verdict) string { return v.status }))
}

// Forget implements Projection.
func (p *Configurations) Forget() { p.rows.forget() }
