package projections

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/infra/columns"
)

// FindStudy reads a study, deleted or not. It returns NotFound for a missing one.
func FindStudy(ctx context.Context, db Reader, id string) (Study, error) {
	return find(ctx, db, &NewStudies().table, "study", id)
}

// StudyQuery asks for studies that are not deleted, newest first.
type StudyQuery struct {
	Scope  Scope
	Search string // in the name
	Where  []Filter
	Page   Page
}

// ListStudies returns one page and the position of the next one.
func ListStudies(ctx context.Context, db Reader, q StudyQuery) ([]Study, []string, error) {
	t := &NewStudies().table
	keys := []sortKey{{"created_at", "timestamptz", true}, {"id", "text", true}}
	if err := q.Page.fits(keys); err != nil {
		return nil, nil, err
	}
	var c conditions
	c.add("deleted = ''")
	c.add(q.Scope.on(&c, ownersOf("studies", "")))
	c.contains(q.Search, "name")
	for _, f := range q.Where {
		f.add(&c)
	}
	c.after(keys, q.Page.After)
	rows, err := db.Query(ctx, fmt.Sprintf(`SELECT %s FROM studies WHERE %s ORDER BY %s LIMIT %d`,
		t.columns.List(""), c.where(), orderBy(keys), q.Page.Limit+1), c.args...)
	found, err := collect(rows, err, t.columns.Scan)
	if err != nil {
		return nil, nil, fmt.Errorf("list studies: %w", err)
	}
	found, next := cut(found, q.Page.Limit, func(s *Study) []any { return []any{s.CreatedAt, s.ID} })
	return found, next, nil
}

// RunningStudies counts the running studies of an account, up to most.
func RunningStudies(ctx context.Context, db Reader, account string, most int64) (running int64, err error) {
	err = db.QueryRow(ctx, `SELECT count(*) FROM (SELECT FROM studies
		WHERE account_id = $1 AND status = 'running' AND deleted = '' LIMIT $2) AS running`, account, most).Scan(&running)
	if err != nil {
		return 0, fmt.Errorf("count the studies of %s: %w", account, err)
	}
	return running, nil
}

// endedStatuses is the condition that a simulation has ended.
const endedStatuses = `status IN ('completed', 'failed', 'terminated', 'invalid')`

// pointStatus is the status that a run gives to its point. A run that was terminated at its
// end has whole results, and they are kept.
const pointStatus = `CASE WHEN status = 'terminated' AND engine_version <> '' THEN 'completed' ELSE status END`

// latestRuns is the newest run of each point of the study whose id the expression gives, with
// the status of its point as point_status. A run that was deleted before it started has
// terminated its point, unless it was deleted because its study ended: then it is left out,
// and the point waits again.
func latestRuns(study string) string {
	return `(SELECT *, CASE WHEN deleted <> '' AND NOT ` + endedStatuses + ` THEN 'terminated' ELSE ` + pointStatus + ` END AS point_status
	FROM (SELECT DISTINCT ON (study_point) * FROM simulations
		WHERE study_id = ` + study + ` ORDER BY study_point, study_round DESC) AS newest
	WHERE deleted <> 'study' OR ` + endedStatuses + `)`
}

// PointRun is the run of a point, or the run whose result it takes.
type PointRun struct {
	Point  int64
	Shared bool
	Status string // of the point
	Simulation
}

// PointRuns returns the runs of the points from first, at most limit points after it, in
// order. Points without one are missing.
func PointRuns(ctx context.Context, db Reader, study string, first, limit int64) ([]PointRun, error) {
	t, runs := &NewSimulations().table, latestRuns("$1")
	rows, err := db.Query(ctx, fmt.Sprintf(`
		SELECT study_point, false, point_status, %s FROM %s AS r WHERE study_point >= $2 AND study_point < $3
		UNION ALL SELECT h.point, true, `+pointStatus+`, %s FROM study_shares h JOIN simulations s ON s.id = h.simulation_id
			WHERE h.study_id = $1 AND h.point >= $2 AND h.point < $3
		UNION ALL SELECT h.point, true, point_status, %s FROM study_shares h JOIN %s AS r ON r.study_point = h.same_as
			WHERE h.study_id = $1 AND h.simulation_id = '' AND h.point >= $2 AND h.point < $3
		ORDER BY 1`, t.columns.List("r."), runs, t.columns.List("s."), t.columns.List("r."), runs), study, first, first+limit)
	found, err := collect(rows, err, func(row pgx.CollectableRow) (p PointRun, err error) {
		err = row.Scan(append([]any{&p.Point, &p.Shared, &p.Status}, t.columns.Pointers(&p.Simulation)...)...)
		return p, err
	})
	if err != nil {
		return nil, fmt.Errorf("read the points of study %s: %w", study, err)
	}
	return found, nil
}

// StudyRun is a run of a study, with what its worker decides by.
type StudyRun struct {
	ID              string
	Status          string
	Deleted         string
	StudyPoint      int64
	StudyRound      int64
	WorkspaceID     string
	SimulatedTimeNs int64  // how far it has come
	EngineVersion   string // of whole results
}

var studyRunColumns = columns.Of[StudyRun]()

// StudyRuns returns all runs of a study, the deleted ones too, by point and round.
func StudyRuns(ctx context.Context, db Reader, study string) ([]StudyRun, error) {
	return studyRuns(ctx, db, `SELECT `+studyRunColumns.List("")+`
		FROM simulations WHERE study_id = $1 ORDER BY study_point, study_round`, study)
}

// OpenStudyRuns returns at most limit runs of a study that have not ended.
func OpenStudyRuns(ctx context.Context, db Reader, study string, limit int) ([]StudyRun, error) {
	return studyRuns(ctx, db, `SELECT `+studyRunColumns.List("")+` FROM simulations
		WHERE study_id = $1 AND `+openRuns+` ORDER BY study_point LIMIT $2`, study, limit)
}

// EndedStudyRuns returns at most limit runs of a study that have ended and are not
// deleted.
func EndedStudyRuns(ctx context.Context, db Reader, study string, limit int) ([]StudyRun, error) {
	return studyRuns(ctx, db, `SELECT `+studyRunColumns.List("")+` FROM simulations
		WHERE study_id = $1 AND deleted = '' AND `+endedStatuses+` ORDER BY study_point LIMIT $2`, study, limit)
}

func studyRuns(ctx context.Context, db Reader, query string, args ...any) ([]StudyRun, error) {
	rows, err := db.Query(ctx, query, args...)
	runs, err := collect(rows, err, studyRunColumns.Scan)
	if err != nil {
		return nil, fmt.Errorf("list the runs of study %s: %w", args[0], err)
	}
	return runs, nil
}

// SharedInStudy returns the points of a study that take the result of another run.
func SharedInStudy(ctx context.Context, db Reader, study string) ([]int64, error) {
	rows, err := db.Query(ctx, `SELECT point FROM study_shares WHERE study_id = $1`, study)
	points, err := collect(rows, err, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("list the shared points of study %s: %w", study, err)
	}
	return points, nil
}

// PointTime is a point of a study with whole results, and its simulated time.
type PointTime struct {
	Point        int64
	SimulationID string
	TimePs       int64
}

// PointTimes returns the points of a study that have whole results, and whose workload was
// not cut off by the duration of the run.
func PointTimes(ctx context.Context, db Reader, study string) ([]PointTime, error) {
	const whole = `status IN ('completed', 'terminated') AND engine_version <> '' AND unfinished_ranks = 0`
	rows, err := db.Query(ctx, `
		SELECT study_point AS point, id AS simulation_id, time_ps FROM simulations WHERE study_id = $1 AND `+whole+`
		UNION ALL SELECT h.point, s.id, s.time_ps FROM study_shares h JOIN simulations s ON s.id = h.simulation_id
			WHERE h.study_id = $1 AND `+whole+`
		UNION ALL SELECT h.point, s.id, s.time_ps FROM study_shares h JOIN simulations s ON s.study_id = h.study_id AND s.study_point = h.same_as
			WHERE h.study_id = $1 AND h.simulation_id = '' AND `+whole, study)
	times, err := collect(rows, err, pgx.RowToStructByName[PointTime])
	if err != nil {
		return nil, fmt.Errorf("read the times of study %s: %w", study, err)
	}
	return times, nil
}

// EqualRun is a run whose result another run with the same inputs can take.
type EqualRun struct {
	InputHash  string
	ID         string
	StudyID    string
	StudyPoint int64
}

var equalRunColumns = columns.Of[EqualRun]()

// EqualRuns returns, by input hash, the oldest run of an account with these inputs that
// is completed, or a run of the study itself.
func EqualRuns(ctx context.Context, db Reader, account, study string, hashes []string) (map[string]EqualRun, error) {
	// A look-up for each hash: planned without values, "input_hash = ANY($2)" would read all
	// runs of the account.
	rows, err := db.Query(ctx, `SELECT `+equalRunColumns.List("r.")+` FROM (SELECT DISTINCT unnest($2::text[])) AS k (hash)
		CROSS JOIN LATERAL (SELECT * FROM simulations
			WHERE account_id = $1 AND input_hash = k.hash AND input_hash <> '' AND deleted = ''
				AND (status = 'completed' OR study_id = $3)
			ORDER BY status <> 'completed', created_at, id LIMIT 1) AS r`, account, hashes, study)
	found, err := collect(rows, err, equalRunColumns.Scan)
	if err != nil {
		return nil, fmt.Errorf("look for equal runs of study %s: %w", study, err)
	}
	equal := make(map[string]EqualRun, len(found))
	for _, r := range found {
		equal[r.InputHash] = r
	}
	return equal, nil
}

// measuredRuns is how many runs RunTimes reads.
const measuredRuns = 1000

// RunTimes returns, by number of ranks, the mean wall-clock time of those of an account's
// newest completed runs that have as many. Numbers without any are missing.
func RunTimes(ctx context.Context, db Reader, account string, ranks []int64) (map[int64]time.Duration, error) {
	rows, err := db.Query(ctx, `SELECT ranks, avg(extract(epoch FROM completed_at - started_at))::float8
		FROM (SELECT ranks, started_at, completed_at FROM simulations
			WHERE account_id = $1 AND status = 'completed' AND deleted = '' ORDER BY created_at DESC, id DESC LIMIT $3) AS newest
		WHERE ranks = ANY($2) AND started_at IS NOT NULL AND completed_at IS NOT NULL GROUP BY ranks`, account, ranks, measuredRuns)
	if err != nil {
		return nil, fmt.Errorf("measure the runs of %s: %w", account, err)
	}
	times := map[int64]time.Duration{}
	var n int64
	var seconds float64
	_, err = pgx.ForEachRow(rows, []any{&n, &seconds}, func() error {
		times[n] = max(time.Duration(seconds*float64(time.Second)), 0)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("measure the runs of %s: %w", account, err)
	}
	return times, nil
}

// UnfinishedStudies returns the ids of at most limit studies that need a worker: those
// that run, and those that were terminated or deleted while runs of them had not ended.
func UnfinishedStudies(ctx context.Context, db Reader, limit int) ([]string, error) {
	return idsOf(ctx, db, `SELECT id FROM studies s WHERE status = 'running' AND deleted = ''
		UNION SELECT study_id FROM simulations r JOIN studies s ON s.id = r.study_id
			WHERE r.study_id <> '' AND r.deleted = '' AND r.`+openStatuses+` AND (s.status = 'terminated' OR s.deleted <> '')
		ORDER BY 1 LIMIT $1`, limit)
}
