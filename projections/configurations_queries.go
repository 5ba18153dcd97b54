package projections

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/fault"
	"netsim/infra/columns"
)

// ConfigurationVersion is one version of a configuration. Lists fill only Version,
// Status and CreatedAt.
type ConfigurationVersion struct {
	ConfigurationID string
	Version         int64
	Status          string
	Document        string
	TracesetID      string
	MappingFileID   string
	CreatedAt       time.Time
}

var configurationVersionColumns = columns.Of[ConfigurationVersion]()

// FindConfigurationVersion reads one version of a configuration. It returns
// NotFound for a missing version.
func FindConfigurationVersion(ctx context.Context, db Reader, id string, version int64) (ConfigurationVersion, error) {
	var v ConfigurationVersion
	err := db.QueryRow(ctx, `
		SELECT `+configurationVersionColumns.List("")+` FROM configuration_versions
		WHERE configuration_id = $1 AND version = $2`, id, version).Scan(configurationVersionColumns.Pointers(&v)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return v, fault.New(fault.NotFound, "configuration %s has no version %d", id, version)
	}
	if err != nil {
		return v, fmt.Errorf("read version %d of configuration %s: %w", version, id, err)
	}
	return v, nil
}

// ListConfigurationVersions returns all versions of a configuration, newest first.
func ListConfigurationVersions(ctx context.Context, db Reader, id string) ([]ConfigurationVersion, error) {
	rows, err := db.Query(ctx, `
		SELECT version, status, created_at FROM configuration_versions
		WHERE configuration_id = $1 ORDER BY version DESC`, id)
	versions, err := collect(rows, err, pgx.RowToStructByNameLax[ConfigurationVersion])
	if err != nil {
		return nil, fmt.Errorf("list the versions of configuration %s: %w", id, err)
	}
	return versions, nil
}

// ConfigurationQuery asks for configurations that are not deleted, newest
// first.
type ConfigurationQuery struct {
	Scope Scope
	Where []Filter
	Page  Page
}

// ListConfigurations returns one page, with only the columns that a list shows, and
// the position of the next one. It merges one index scan for each workspace or
// account, as ListSimulations does.
func ListConfigurations(ctx context.Context, db Reader, q ConfigurationQuery) ([]Configuration, []string, error) {
	const columns = "id, workspace_id, name, status, version, component_count, created_at, modified_at"
	keys := []sortKey{{"created_at", "timestamptz", true}, {"id", "text", true}}
	if err := q.Page.fits(keys); err != nil {
		return nil, nil, err
	}
	var c conditions
	c.add("NOT deleted")
	from := q.Scope.segments(&c, "configurations", "configuration_counts")
	c.filter(q.Where)
	c.after(keys, q.Page.After)
	limit := strconv.Itoa(q.Page.Limit + 1)
	page := fmt.Sprintf(`SELECT %s FROM configurations WHERE %s ORDER BY %s LIMIT %s`, columns, c.where(), orderBy(keys), limit)
	if from != "" {
		page = fmt.Sprintf(`SELECT found.* FROM %s CROSS JOIN LATERAL (%s) AS found ORDER BY %s LIMIT %s`,
			from, page, orderBy(keys), limit)
	}
	rows, err := db.Query(ctx, page, c.args...)
	found, err := collect(rows, err, pgx.RowToStructByNameLax[Configuration])
	if err != nil {
		return nil, nil, fmt.Errorf("list configurations: %w", err)
	}
	found, next := cut(found, q.Page.Limit, func(c *Configuration) []any { return []any{c.CreatedAt, c.ID} })
	return found, next, nil
}
