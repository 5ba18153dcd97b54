package projector

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// NameOf returns the name of the read model with the fingerprint: that of its leases and of
// its notifications, and the schema that it is in after another read model was promoted.
func NameOf(fingerprint string) string {
	return Live + "_" + strings.TrimPrefix(fingerprint, formPrefix)
}

const formPrefix = "form "

var name = regexp.MustCompile(`^` + Live + `_[0-9a-f]{16}$`)

// isName reports whether a schema is that of a superseded read model.
func isName(schema string) bool { return name.MatchString(schema) }

// Serving is a pool option. The sessions find the tables of the read model with the
// fingerprint: the superseded one if there is one, else the live one. A promotion changes
// that for all sessions when it commits, because PostgreSQL then resolves names again.
func Serving(fingerprint string) func(*pgxpool.Config) {
	return func(c *pgxpool.Config) {
		parameters := c.ConnConfig.RuntimeParams
		if path := parameters["search_path"]; path != "" { // else the pool is not for a read model
			parameters["search_path"] = pgx.Identifier{NameOf(fingerprint)}.Sanitize() + ", " + path
		}
	}
}

// SupersededModel is a read model that was live before that of another release.
type SupersededModel struct {
	Schema    string
	Processes int // that serve it
}

// Superseded returns the superseded read models, in the order of their schemas.
func Superseded(ctx context.Context, db Querier) ([]SupersededModel, error) {
	rows, err := db.Query(ctx, `
		SELECT nspname::text, (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = $2 || nspname)
		FROM pg_namespace WHERE nspname ~ $1 ORDER BY nspname`, name.String(), listeners)
	if err != nil {
		return nil, fmt.Errorf("list the superseded read models: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[SupersededModel])
	if err != nil {
		return nil, fmt.Errorf("list the superseded read models: %w", err)
	}
	return all, nil
}

// name returns the schema of the read model, Live for the one that this release serves.
func (p *Projector) name() string { return cmp.Or(p.Schema, Live) }

// isLive reports whether the read model is not one beside the live one.
func (p *Projector) isLive() bool { return p.name() == Live }

func (p *Projector) ident() string { return pgx.Identifier{p.name()}.Sanitize() }

// table returns a table of the read model as an SQL name.
func (p *Projector) table(name string) string { return tableIn(p.Schema, name) }

// tableIn returns a table of the read model in a schema as an SQL name. The session
// resolves those of the read model that it serves, which is "".
func tableIn(schema, table string) string {
	if schema == "" {
		return table
	}
	return pgx.Identifier{schema}.Sanitize() + "." + table
}

// locate notes, for a session, in which schema the read model is.
func (p *Projector) locate(ctx context.Context) error {
	p.schema, p.channel = p.Schema, channel(p.Schema)
	if p.isLive() {
		p.channel = channel(NameOf(p.fingerprint()))
	}
	if p.Schema != "" {
		return nil
	}
	if err := p.Pool.QueryRow(ctx, `SELECT current_schema()`).Scan(&p.schema); err != nil {
		return fmt.Errorf("look for the read model: %w", err)
	}
	return nil
}

// ifServing returns the SQL condition that the read model is in the schema where the session
// found it. So no batch is committed after a promotion before the projector has noticed it.
func (p *Projector) ifServing(args []any) (condition string, all []any) {
	if p.Schema != "" {
		return "true", args
	}
	args = append(args, p.schema)
	return fmt.Sprintf("current_schema() = $%d", len(args)), args
}

// isSuperseded reports whether another read model was live when the session began.
func (p *Projector) isSuperseded() bool { return p.Schema == "" && p.schema != Live }

// mark is what precedes the notices of the session.
func (p *Projector) mark() string {
	if p.isSuperseded() {
		return supersededMark
	}
	return ""
}
