package projections

import (
	"context"
	"fmt"
	"hash/fnv"

	"github.com/jackc/pgx/v5"

	"netsim/commands"
	"netsim/fault"
)

// StudyProgress is the number of points of a study by state. Together they are all
// points.
type StudyProgress struct {
	Waiting    int64 // without a run or a result
	Shared     int64 // with the result of another run
	Unfinished int64 // with a run that has not ended
	Completed  int64
	Failed     int64
	Terminated int64
	Invalid    int64
}

// runCounts counts the rows of latestRuns.
const runCounts = `count(*) FILTER (WHERE point_status NOT IN ('completed', 'failed', 'terminated', 'invalid')) AS unfinished,
	count(*) FILTER (WHERE point_status = 'completed') AS completed, count(*) FILTER (WHERE point_status = 'failed') AS failed,
	count(*) FILTER (WHERE point_status = 'terminated') AS terminated, count(*) FILTER (WHERE point_status = 'invalid') AS invalid`

// ProgressOf counts the points of a study.
func ProgressOf(ctx context.Context, db Reader, s *Study) (StudyProgress, error) {
	p := StudyProgress{Shared: s.Shared}
	err := db.QueryRow(ctx, `SELECT `+runCounts+` FROM `+latestRuns("$1")+` AS r`, s.ID).
		Scan(&p.Unfinished, &p.Completed, &p.Failed, &p.Terminated, &p.Invalid)
	if err != nil {
		return p, fmt.Errorf("count the points of study %s: %w", s.ID, err)
	}
	p.Waiting = s.Points - p.Shared - p.Unfinished - p.Completed - p.Failed - p.Terminated - p.Invalid
	return p, nil
}

// StudyState is what the followers of a study are sent.
type StudyState struct {
	ID     string
	Status string
	Reason string // of a termination
	Gone   bool   // whether it or its workspace is deleted
	StudyProgress
}

// Number returns a number that stands for what followers are sent: of equal states the
// same, of others, with practical certainty, another one. It is positive, and JSON parsers
// represent it exactly.
func (s *StudyState) Number() int64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%q %q %d", s.Status, s.Reason, s.StudyProgress)
	return int64(h.Sum64()>>12) + 1
}

// Final reports whether the state of the study does not change any more, unless the study
// is resumed.
func (s *StudyState) Final() bool { return commands.Final(s.Status) && s.Unfinished == 0 }

// FindStudyState reads the state of a study. It returns NotFound for a missing or deleted
// one.
func FindStudyState(ctx context.Context, db Reader, id string) (StudyState, error) {
	found, err := studyStates(ctx, db, []string{id})
	switch {
	case err != nil:
		return StudyState{}, err
	case len(found) == 0 || found[0].Gone:
		return StudyState{}, fault.Missing("study", id)
	}
	return found[0], nil
}

// FollowStudies returns the numbers of the states of the studies.
func FollowStudies(ctx context.Context, db Reader, studies []string) ([]Followed, error) {
	states, err := studyStates(ctx, db, studies)
	followed := make([]Followed, 0, len(states))
	for i := range states {
		s := &states[i]
		followed = append(followed, Followed{ID: s.ID, Last: s.Number(), Gone: s.Gone})
	}
	return followed, err
}

// studyStates reads the states of studies in one statement, so that the status and the
// numbers of points are those of one moment.
func studyStates(ctx context.Context, db Reader, ids []string) ([]StudyState, error) {
	rows, err := db.Query(ctx, `
		SELECT s.id, s.status, s.reason, `+gone+` AS gone, s.shared, r.*,
			s.points - s.shared - unfinished - completed - failed - terminated - invalid AS waiting
		FROM studies s CROSS JOIN LATERAL (SELECT `+runCounts+` FROM `+latestRuns("s.id")+` AS runs) AS r
		WHERE s.id = ANY($1)`, ids)
	states, err := collect(rows, err, pgx.RowToStructByName[StudyState])
	if err != nil {
		return nil, fmt.Errorf("read the states of %d studies: %w", len(ids), err)
	}
	return states, nil
}

// StudyCounts says how much work the studies of all accounts still are.
type StudyCounts struct {
	Running    int64 // studies
	Waiting    int64 // points of running studies that have had no run and no result
	Unfinished int64 // runs of points that have not ended, those that are being stopped too
}

// CountStudies counts the studies and their points that have not ended.
func CountStudies(ctx context.Context, db Reader) (c StudyCounts, err error) {
	err = db.QueryRow(ctx, `SELECT count(*), coalesce(sum(points - next), 0)::bigint,
			(SELECT count(*) FROM simulations WHERE `+openRuns+` AND study_id <> '')
		FROM studies WHERE status = 'running' AND deleted = ''`).Scan(&c.Running, &c.Waiting, &c.Unfinished)
	if err != nil {
		return c, fmt.Errorf("count the studies: %w", err)
	}
	return c, nil
}
