package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Member is a process with database sessions: of the service or of a tool.
type Member struct {
	Process  string // "" for a release that does not know of levels
	Release  string // "" for a release that does not know of levels
	Level    int    // the newest that its release knows; 1 for a release that does not know of levels
	Sessions int    // all processes without levels count as one member
}

// unnamed is the application_name of sessions of releases that do not know of levels.
const unnamed = "netsim"

// maxName is PostgreSQL's limit of an application_name, in bytes.
const maxName = 63

// Named returns a pool option that names the sessions after the member, so that all
// processes see in PostgreSQL which releases run. A session ends with its process. Process
// names that are too long lose their beginning.
func Named(m Member) func(*pgxpool.Config) {
	release := m.Release[:min(len(m.Release), 24)]
	name := fmt.Sprintf("%s/%d %s ", unnamed, m.Level, strings.ReplaceAll(release, " ", ""))
	name += m.Process[max(len(m.Process)-(maxName-len(name)), 0):]
	return func(c *pgxpool.Config) { c.ConnConfig.RuntimeParams["application_name"] = name }
}

// Members returns the processes that have sessions in this database, but for the one with
// the name self, ordered by level and name.
func Members(ctx context.Context, pool *pgxpool.Pool, self string) ([]Member, error) {
	rows, err := pool.Query(ctx, `
		SELECT application_name, count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND (application_name = $1 OR starts_with(application_name, $1 || '/'))
		GROUP BY application_name ORDER BY application_name COLLATE "C"`, unnamed)
	if err != nil {
		return nil, fmt.Errorf("list the processes with database sessions: %w", err)
	}
	var all []Member
	var name string
	var sessions int
	_, err = pgx.ForEachRow(rows, []any{&name, &sessions}, func() error {
		if m := readName(name); m.Process == "" || !strings.HasSuffix(self, m.Process) {
			m.Sessions = sessions
			all = append(all, m)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the processes with database sessions: %w", err)
	}
	return all, nil
}

// readName returns the member that an application_name is of. A name that cannot be read is
// of level 1, so that it prevents every raise.
func readName(name string) Member {
	m := Member{Level: 1}
	text, found := strings.CutPrefix(name, unnamed+"/")
	if !found {
		return m
	}
	parts := strings.SplitN(text, " ", 3)
	level, err := strconv.Atoi(parts[0])
	if err != nil || level < 1 || len(parts) < 3 {
		return m
	}
	return Member{Level: level, Release: parts[1], Process: parts[2]}
}
