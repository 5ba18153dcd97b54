//go:build tools

package lake_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/facts"
	"netsim/infra/objects"
	"netsim/internal/testduckdb"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
	"netsim/stream/lake"
)

// world is a process that writes a lake.
type world struct {
	*testworld.World
	store teststack.ObjectStore
	facts *facts.Reader
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{World: testworld.NewServers(t).Start(t), store: teststack.Objects(t)}
	w.Objects = objects.New(objects.Config{
		Endpoint: w.store.Endpoint, Region: w.store.Region, Bucket: w.store.Bucket,
		AccessKey: w.store.AccessKey, SecretKey: w.store.SecretKey,
	})
	w.facts = facts.NewReader(w.EventLog, w.Watcher)
	return w
}

// leases returns the leases of a process.
func (w *world) leases(process string) *facts.Leases {
	return &facts.Leases{Pool: w.DB, Subscriber: lake.Subscriber, Process: process, Shards: 1, TTL: time.Second, Log: w.Logger}
}

// config returns the settings of a lake that commits at once.
func (w *world) config() lake.Config {
	partitions := map[events.Family]int32{}
	for _, family := range events.Families() {
		partitions[family] = 2
	}
	return lake.Config{
		Pool: w.DB, Objects: w.Objects, Bucket: w.store.Bucket, Facts: w.facts, EventLog: w.EventLog, Judged: w.Watcher.Next,
		Leases: w.leases("one"), Partitions: partitions, Every: 20 * time.Millisecond,
		Bytes: 128 << 20, MergeAfter: 5 * time.Minute, DeleteAfter: time.Hour, Log: w.Logger,
	}
}

// run writes the lake until the returned function is called.
func run(t testing.TB, l *lake.Lake) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := testwait.Receive(t, done, "the lake to end"); err != nil {
			t.Errorf("the lake ended with %v", err)
		}
	}
	t.Cleanup(stop)
	return stop
}

// await waits until the lake has every judged fact.
func (w *world) await(t testing.TB) {
	t.Helper()
	testworld.Await(t, func() bool {
		var behind int
		for _, s := range w.sources() {
			last := w.last(t, s)
			if last < 0 {
				continue
			}
			var next int64
			err := w.DB.QueryRow(t.Context(), `SELECT next FROM lake.netsim_position WHERE family = $1 AND partition = $2`, s.Family, s.Partition).Scan(&next)
			if err != nil || next <= last {
				behind++
			}
		}
		return behind == 0
	})
}

func (w *world) sources() (all []events.Position) {
	for _, family := range events.Families() {
		for i := range int32(2) {
			all = append(all, events.Position{Family: family, Partition: i})
		}
	}
	return all
}

// all returns the facts of a partition.
func (w *world) all(t testing.TB, s events.Position) (list []facts.Fact) {
	t.Helper()
	for from := int64(0); from < w.Watcher.Next(s.Family, s.Partition); {
		b, err := w.facts.Next(t.Context(), s.Family, s.Partition, from)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, b.Facts...)
		from = b.To
	}
	return list
}

// last returns the offset of the last fact of a partition, -1 when there is none.
func (w *world) last(t testing.TB, s events.Position) int64 {
	t.Helper()
	if list := w.all(t, s); len(list) > 0 {
		return list[len(list)-1].Offset
	}
	return -1
}

// attach returns stock DuckDB with the lake attached read-only as lake.
func (w *world) attach(t testing.TB) *testduckdb.Session {
	t.Helper()
	return w.attachAs(t, ", READ_ONLY")
}

func (w *world) attachAs(t testing.TB, options string) *testduckdb.Session {
	t.Helper()
	s := testduckdb.Open(t)
	s.Query(t, fmt.Sprintf(`CREATE SECRET (TYPE s3, KEY_ID '%s', SECRET '%s', REGION '%s', ENDPOINT '%s', URL_STYLE 'path', USE_SSL false)`,
		w.store.AccessKey, w.store.SecretKey, w.store.Region, strings.TrimPrefix(w.store.Endpoint, "http://")))
	s.Query(t, fmt.Sprintf(`ATTACH 'ducklake:postgres:%s' AS lake (METADATA_SCHEMA 'lake'%s)`, w.Database, options))
	return s
}

// create creates a workspace.
func (w *world) create(t testing.TB, name string) string {
	t.Helper()
	id := events.NewID(events.WorkspacePrefix)
	testworld.In[commands.Workspace](t, w.World, id, id, commands.CreateWorkspace{AccountID: testworld.Account, Name: name, Owner: "tester"})
	return id
}
