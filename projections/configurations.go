package projections

import (
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/events"
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
	ParentConfigurationID string
	Category              string
	Description           string
	Deleted               bool
	CreatedAt             time.Time
	ModifiedAt            time.Time
}

// Configurations is the projection of the configurations and their versions.
type Configurations struct{ rows table[Configuration] }

// NewConfigurations returns the projection.
func NewConfigurations() *Configurations {
	return &Configurations{table[Configuration]{
		name: "configurations", keys: 1, columns: configurationColumns,
		keyOf: streamOf(events.ConfigurationPrefix), first: begins, born: true,
		key:  func(c *Configuration) string { return c.ID },
		fold: foldConfiguration,
	}}
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
	{"parent_configuration_id", "text", func(c *Configuration) any { return &c.ParentConfigurationID }},
	{"category", "text", func(c *Configuration) any { return &c.Category }},
	{"description", "text", func(c *Configuration) any { return &c.Description }},
	{"deleted", "boolean", func(c *Configuration) any { return &c.Deleted }},
	{"created_at", "timestamptz", func(c *Configuration) any { return &c.CreatedAt }},
	{"modified_at", "timestamptz", func(c *Configuration) any { return &c.ModifiedAt }},
}

func foldConfiguration(c *Configuration, f *events.Fact) {
	c.ModifiedAt = f.Time
	switch d := f.Data.(type) {
	case events.ConfigurationCreated:
		*c = Configuration{
			ID: f.Stream, AccountID: d.AccountID, WorkspaceID: d.WorkspaceID, Name: d.Name,
			Status: d.Status, Version: 1, ComponentCount: d.ComponentCount, Document: d.Document,
			Findings: d.Findings, TracesetID: d.TracesetID, ParentConfigurationID: d.ParentConfigurationID,
			Category: d.Category, Description: d.Description, CreatedAt: f.Time, ModifiedAt: f.Time,
		}
	case events.ConfigurationValidated:
		c.Status, c.Findings = d.Status, d.Findings
	case events.ConfigurationDeleted:
		c.Deleted = true
	}
}

// Schema implements Projection.
func (p *Configurations) Schema() string { return schema("configurations.sql") }

// Load implements Projection.
func (p *Configurations) Load(reads *pgx.Batch, facts []events.Fact) { p.rows.load(reads, facts) }

// Apply implements Projection.
func (p *Configurations) Apply(writes *pgx.Batch, facts []events.Fact) error {
	queueVersions(writes, facts)
	var counts workspaceCounts
	err := p.rows.apply(writes, facts, func(before, after *Configuration) {
		counts.add(after.WorkspaceID, after.AccountID, liveOf(after)-liveOf(before), 0)
	})
	counts.queue(writes, "configuration_counts")
	return err
}

func liveOf(c *Configuration) int64 {
	if c == nil || c.Deleted {
		return 0
	}
	return 1
}

// queueVersions queues the new versions and the verdicts on versions.
func queueVersions(writes *pgx.Batch, facts []events.Fact) {
	type version struct {
		id, status, document, traceset string
		number                         int64
		at                             time.Time
	}
	var made, judged []version
	for i := range facts {
		f := &facts[i]
		switch d := f.Data.(type) {
		case events.ConfigurationCreated:
			made = append(made, version{f.Stream, d.Status, d.Document, d.TracesetID, 1, f.Time})
		case events.ConfigurationValidated:
			judged = append(judged, version{id: f.Stream, status: d.Status, number: d.Version})
		}
	}
	if len(made) > 0 {
		writes.Queue(`
			INSERT INTO configuration_versions (configuration_id, version, status, document, traceset_id, created_at)
			SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])
			ON CONFLICT DO NOTHING`,
			each(made, func(v version) string { return v.id }), each(made, func(v version) int64 { return v.number }),
			each(made, func(v version) string { return v.status }), each(made, func(v version) string { return v.document }),
			each(made, func(v version) string { return v.traceset }), each(made, func(v version) time.Time { return v.at }))
	}
	if len(judged) > 0 {
		// The last verdict of a batch counts, so they are numbered.
		writes.Queue(`
			UPDATE configuration_versions v SET status = u.status
			FROM (SELECT DISTINCT ON (id, number) id, number, status
			      FROM unnest($1::text[], $2::bigint[], $3::text[]) WITH ORDINALITY AS u (id, number, status, n)
			      ORDER BY id, number, n DESC) u
			WHERE v.configuration_id = u.id AND v.version = u.number`,
			each(judged, func(v version) string { return v.id }), each(judged, func(v version) int64 { return v.number }),
			each(judged, func(v version) string { return v.status }))
	}
}

// Forget implements Projection.
func (p *Configurations) Forget() { p.rows.forget() }
