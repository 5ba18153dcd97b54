package lake_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"netsim/audit"
	"netsim/commands"
	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/facts"
	"netsim/infra/objects"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
	"netsim/stream/lake"
	"netsim/stream/tables"
)

// regrown is the log; when it is another one, every record before a position is another,
// as after the loss of the tail and as many new records.
type regrown struct {
	*eventlog.Kafka
	other *atomic.Bool
}

func (r regrown) Read(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error) {
	records, end, err := r.Kafka.Read(ctx, topic, partition, from, maxBytes, wait)
	if r.other.Load() {
		for i := range records {
			records[i].Value = []byte("another")
		}
	}
	return records, end, err
}

// shore is a lake and the log of its facts.
type shore struct {
	*testworld.World
	lake.Config
	other atomic.Bool
	names int
}

func newShore(t *testing.T) *shore {
	t.Helper()
	s, store := &shore{World: testworld.NewServers(t).Start(t)}, teststack.Objects(t)
	partitions := map[events.Family]int32{}
	for _, family := range events.Families() {
		partitions[family] = s.World.Log.Partitions
	}
	s.Config = lake.Config{
		Pool: s.DB, Bucket: store.Bucket, Facts: facts.NewReader(s.World.EventLog, s.Watcher), Judged: s.Watcher.Next,
		Objects: objects.New(objects.Config{
			Endpoint: store.Endpoint, Region: store.Region, Bucket: store.Bucket, AccessKey: store.AccessKey, SecretKey: store.SecretKey,
		}),
		EventLog: regrown{s.World.EventLog, &s.other}, Partitions: partitions, Every: 20 * time.Millisecond, Bytes: 128 << 20,
		MergeAfter: 5 * time.Minute, DeleteAfter: time.Hour, Log: s.Logger,
		Leases: &facts.Leases{Pool: s.DB, Subscriber: lake.Subscriber, Process: "one", Shards: 1, TTL: time.Second, Log: s.Logger},
	}
	return s
}

// write makes facts in all partitions of the workspaces.
func (s *shore) write(t *testing.T) {
	t.Helper()
	for range 8 {
		s.names++
		id := events.NewID(events.WorkspacePrefix)
		testworld.In[commands.Workspace](t, s.World, id, id, commands.CreateWorkspace{AccountID: testworld.Account, Name: fmt.Sprint(s.names), Owner: "tester"})
	}
}

// start writes the lake until stop.
func (s *shore) start(t *testing.T) (l *lake.Lake, stop func()) {
	t.Helper()
	l = lake.New(s.Config)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	return l, func() {
		cancel()
		if err := testwait.Receive(t, done, "the lake to end"); err != nil {
			t.Errorf("the lake ended with %v", err)
		}
	}
}

// position returns how many records the lake has, and how many are judged.
func (s *shore) position(t *testing.T) (has, judged int64) {
	t.Helper()
	if err := s.DB.QueryRow(t.Context(), `SELECT coalesce(sum(next), 0) FROM lake.netsim_position`).Scan(&has); err != nil {
		return -1, 0 // it was dropped
	}
	for family, n := range s.Partitions {
		for i := range n {
			judged += s.Judged(family, i)
		}
	}
	return has, judged
}

func (s *shore) await(t *testing.T) {
	t.Helper()
	testworld.Await(t, func() bool { has, judged := s.position(t); return has == judged })
}

// compare compares the lake with the log, and returns what is found.
func (s *shore) compare(t *testing.T) string {
	t.Helper()
	return compareWithLog(t, s.World, s.Config.Objects, s.Bucket)
}

func compareWithLog(t testing.TB, w *testworld.World, store lake.Objects, bucket string) string {
	t.Helper()
	contents, err := lake.OpenContents(t.Context(), w.DB, store, bucket)
	if err != nil {
		t.Fatal(err)
	}
	d, err := w.EventLog.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	log := &audit.Log{Reader: w.EventLog, Cluster: d.ClusterID}
	for _, topic := range d.Topics {
		of := audit.Topic{Family: topic.Family, Name: topic.Name, ID: topic.ID}
		for _, p := range topic.Partitions {
			of.Ends = append(of.Ends, p.End)
		}
		log.Topics = append(log.Topics, of)
	}
	r, err := audit.CompareLake(t.Context(), log, contents)
	if err != nil {
		return err.Error()
	}
	var all []string
	for _, f := range r.Findings {
		all = append(all, f.String())
	}
	return strings.Join(all, "\n")
}

// A lake whose positions are in another log is refused for ever, also when that log has
// grown beyond them, at its start and while it runs, until it is dropped.
func TestALakeOfAnotherLogIsRefused(t *testing.T) {
	t.Parallel()
	s := newShore(t)
	l, stop := s.start(t)
	s.write(t)
	s.await(t)
	s.other.Store(true) // under the running writer
	has, _ := s.position(t)
	s.write(t)
	testworld.Await(t, func() bool { return errors.Is(l.Report().Error, lake.ErrOtherLog) })
	stop()
	l, stop = s.start(t)
	s.write(t)
	testworld.Await(t, func() bool { return l.Report().Failures >= 2 })
	if err := l.Report().Error; !errors.Is(err, lake.ErrOtherLog) || !strings.Contains(err.Error(), "netsim lake drop") {
		t.Errorf("the lake says %v", err)
	}
	if now, judged := s.position(t); now != has || judged <= has {
		t.Errorf("the lake is at %d of %d records, want %d", now, judged, has)
	}
	status, err := lake.ReadStatus(t.Context(), s.DB, s.Config.EventLog, nil)
	if err != nil || !strings.Contains(status.OtherLog, "is not the one that was seen") {
		t.Errorf("the status is %+v, %v", status, err)
	}
	if err := lake.Drop(t.Context(), s.DB, s.Config.Objects.(*objects.Store), s.Bucket); err != nil {
		t.Fatal(err)
	}
	s.other.Store(false) // its positions are in the log that there is now
	s.await(t)
	stop()
	if status, err := lake.ReadStatus(t.Context(), s.DB, s.Config.EventLog, nil); err != nil || status.OtherLog != "" {
		t.Errorf("the status is %+v, %v", status, err)
	}
	if said := s.compare(t); said != "" {
		t.Errorf("the lake that was made again: %s", said)
	}
}

// A lake of a release without anchors is continued, and has them from then on.
func TestALakeWithoutAnchorsIsContinued(t *testing.T) {
	t.Parallel()
	s := newShore(t)
	_, stop := s.start(t)
	s.write(t)
	s.await(t)
	stop()
	if _, err := s.DB.Exec(t.Context(), `ALTER TABLE lake.netsim_position DROP COLUMN anchor`); err != nil {
		t.Fatal(err)
	}
	if status, err := lake.ReadStatus(t.Context(), s.DB, s.Config.EventLog, nil); err != nil || status.OtherLog != "" {
		t.Errorf("the status is %+v, %v", status, err)
	}
	_, stop = s.start(t)
	s.write(t)
	s.await(t)
	stop()
	var known int
	if err := s.DB.QueryRow(t.Context(), `SELECT count(*) FROM lake.netsim_position WHERE anchor LIKE '%/' || next || '/%' AND family = 'workspaces'`).Scan(&known); err != nil || known != int(s.World.Log.Partitions) {
		t.Errorf("%d partitions of workspaces have an anchor, %v", known, err)
	}
	if said := s.compare(t); said != "" {
		t.Errorf("found %s", said)
	}
}

// The comparison of a lake with its log finds each seeded difference, in the catalogue
// and in the files.
func TestTheLakeIsComparedWithTheLog(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage func(t *testing.T, s *shore)
		want   string
	}{
		"nothing":        {func(*testing.T, *shore) {}, ""},
		"a file is lost": {func(t *testing.T, s *shore) { s.sql(t, `DELETE FROM lake.ducklake_data_file`) }, "facts of the log have no row in the lake"},
		"a file is there twice": {func(t *testing.T, s *shore) {
			s.sql(t, `INSERT INTO lake.ducklake_data_file (data_file_id, table_id, begin_snapshot, path, path_is_relative, record_count, row_id_start)
				SELECT 1000 + data_file_id, table_id, begin_snapshot, path, true, record_count, 1000 + row_id_start FROM lake.ducklake_data_file`)
		}, "or come twice"},
		"the position is behind": {func(t *testing.T, s *shore) { s.sql(t, `UPDATE lake.netsim_position SET next = 0`) }, ""},
		"a value is another":     {func(t *testing.T, s *shore) { s.rewrite(t, func(f *facts.Fact) { f.Actor = "another" }) }, "facts have another value in the lake, the first is the fact "},
		"an event is another":    {func(t *testing.T, s *shore) { s.rewrite(t, func(f *facts.Fact) { f.Hash[0]++ }) }, "rows of the lake are not of a fact of the log"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShore(t)
			_, stop := s.start(t)
			s.write(t)
			s.await(t)
			stop()
			c.damage(t, s)
			if said := s.compare(t); (c.want == "") != (said == "") || !strings.Contains(said, c.want) {
				t.Errorf("found %q, want %q", said, c.want)
			}
		})
	}
}

func (s *shore) sql(t *testing.T, text string) {
	t.Helper()
	if _, err := s.DB.Exec(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

// rewrite writes the rows of the workspaces again, as one file, with a change of each.
func (s *shore) rewrite(t *testing.T, change func(*facts.Fact)) {
	t.Helper()
	var path string
	err := s.DB.QueryRow(t.Context(), `
		WITH files AS (SELECT f.data_file_id, m.value || 'main/' || t.path || f.path AS path FROM lake.ducklake_data_file f
			JOIN lake.ducklake_table t USING (table_id), lake.ducklake_metadata m WHERE t.table_name = 'workspaces' AND m.key = 'data_path'),
		first AS (SELECT * FROM files ORDER BY data_file_id LIMIT 1),
		others AS (DELETE FROM lake.ducklake_data_file f USING files, first WHERE f.data_file_id = files.data_file_id AND f.data_file_id <> first.data_file_id)
		SELECT path FROM first`).Scan(&path)
	if err != nil {
		t.Fatal(err)
	}
	up := s.Config.Objects.Create(t.Context(), strings.TrimPrefix(path, "s3://"+s.Bucket+"/"), "application/vnd.apache.parquet")
	file := tables.NewParquet(up, tables.For(events.Workspaces))
	rows := int64(0)
	for i := range s.World.Log.Partitions {
		for from := int64(0); from < s.Judged(events.Workspaces, i); {
			b, err := s.Facts.Next(t.Context(), events.Workspaces, i, from)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range slices.Clone(b.Facts) {
				change(&f)
				if err := file.Append(&f); err != nil {
					t.Fatal(err)
				}
				rows++
			}
			from = b.To
		}
	}
	if _, err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if err := up.Close(); err != nil {
		t.Fatal(err)
	}
	s.sql(t, fmt.Sprintf(`UPDATE lake.ducklake_data_file f SET record_count = %d FROM lake.ducklake_table t WHERE t.table_id = f.table_id AND t.table_name = 'workspaces'`, rows))
}
