package export_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/infra/facts"
	"netsim/infra/objects"
	"netsim/internal/teststack"
	"netsim/stream/export"
)

// TestEachFactOnce: in every format, and to both targets, the files have each fact once
// and nothing else, and the manifest describes them.
func TestEachFactOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	partitions := map[string]bool{}
	for _, one := range w.want {
		partitions[fmt.Sprint(one.family, one.partition)] = true
	}
	for _, format := range []string{export.Parquet, export.NDJSON, export.CSV} {
		for name, target := range map[string]export.Target{"directory": &export.Directory{Path: t.TempDir()}, "bucket": w.bucket("exports/" + format + "/")} {
			t.Run(format+" "+name, func(t *testing.T) {
				m := run(t, w.export(format, target))
				same(t, exported(t, m, target), w.want)
				if len(m.Files) <= len(partitions) {
					t.Errorf("%d files of 9,000 bytes, want more than the %d partitions that have facts", len(m.Files), len(partitions))
				}
				if _, found, err := export.Verify(t.Context(), target); err != nil || len(found) > 0 {
					t.Errorf("verify found %q, %v", found, err)
				}
				before := content(t, target)
				again := w.export(format, target)
				again.Facts = nil
				run(t, again)
				if diff := cmp.Diff(before, content(t, target)); diff != "" {
					t.Errorf("a complete export was changed (-before +after):\n%s", diff)
				}
			})
		}
	}
}

// TestNothingLaterIsExported: the end is fixed when the export begins.
func TestNothingLaterIsExported(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	for i := range w.log.Topics {
		for n := range w.log.Topics[i].Ends {
			w.log.Topics[i].Ends[n] /= 2
		}
	}
	target := &export.Directory{Path: t.TempDir()}
	var want []wanted
	for _, one := range w.want {
		if one.offset < w.log.Topics[slices.Index(events.Families(), one.family)].Ends[one.partition] {
			want = append(want, one)
		}
	}
	same(t, exported(t, run(t, w.export(export.Parquet, target)), target), want)
}

func TestFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 40)
	var ofAccount []string // streams of the account in a workspace of nobody
	for _, one := range w.want {
		if one.frame.PartitionKey == events.DefaultWorkspace && one.frame.Sequence == 1 {
			ofAccount = append(ofAccount, one.frame.Stream)
		}
	}
	if len(ofAccount) < 3 {
		t.Fatal("the world has too few streams in the default workspace")
	}
	sim := w.want[slices.IndexFunc(w.want, func(one wanted) bool { return one.family == events.Simulations })].frame.Stream
	requested, held := events.SimulationRequested{}.EventType(), events.CreditHeld{}.EventType()
	for name, c := range map[string]struct {
		filters export.Filters
		passes  func(wanted) bool
	}{
		"family": {export.Filters{Families: []events.Family{events.Billing}}, func(one wanted) bool { return one.family == events.Billing }},
		"types":  {export.Filters{Types: []string{requested, held}}, func(one wanted) bool { return one.frame.Type == requested || one.frame.Type == held }},
		"stream": {export.Filters{Streams: []string{sim}}, func(one wanted) bool { return one.frame.Stream == sim }},
		"workspace": {export.Filters{Workspaces: w.spaces[:1]}, func(one wanted) bool {
			return one.frame.PartitionKey == w.spaces[0] || strings.Contains(one.value, `"workspaceId":"`+w.spaces[0]+`"`)
		}},
		"account": {export.Filters{Account: w.account}, func(one wanted) bool {
			return one.frame.PartitionKey == w.account || one.frame.PartitionKey == w.spaces[0] || slices.Contains(ofAccount, one.frame.Stream)
		}},
		"time": {export.Filters{From: w.began.Add(20 * time.Second), To: w.began.Add(50 * time.Second)}, func(one wanted) bool {
			return !one.frame.Time.Before(w.began.Add(20*time.Second)) && one.frame.Time.Before(w.began.Add(50*time.Second))
		}},
		"both": {export.Filters{Families: []events.Family{events.Simulations}, Types: []string{requested, held}}, func(one wanted) bool { return one.frame.Type == requested }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want []wanted
			for _, one := range w.want {
				if c.passes(one) {
					want = append(want, one)
				}
			}
			if len(want) == 0 || len(want) == len(w.want) {
				t.Fatalf("the filter selects %d of %d facts", len(want), len(w.want))
			}
			target := &export.Directory{Path: t.TempDir()}
			x := w.export(export.NDJSON, target)
			x.Filters, x.FileBytes = c.filters, 1500
			m := run(t, x)
			same(t, exported(t, m, target), want)
			// A resumed export selects the same ones.
			killed := &export.Directory{Path: t.TempDir()}
			for n := 0; ; n++ {
				x := w.export(export.NDJSON, killed)
				x.Filters, x.FileBytes, x.Workers = c.filters, 1500, 1
				x.Step = func(step string) error {
					if step == "file listed" {
						return errKilled
					}
					return nil
				}
				if _, err := x.Run(t.Context()); err == nil {
					break
				} else if !errors.Is(err, errKilled) || n > 100 {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(content(t, target), content(t, killed)); diff != "" {
				t.Errorf("resumed (-uninterrupted +resumed):\n%s", diff)
			}
		})
	}
}

var errKilled = errors.New("killed")

// TestKilledAtEveryStep: an export that ends at any step of any file, and is resumed as
// often as needed, has the same files and the same manifest as an uninterrupted one.
func TestKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 40)
	for _, format := range []string{export.Parquet, export.CSV} {
		whole := &export.Directory{Path: t.TempDir()}
		m := run(t, w.export(format, whole))
		want := content(t, whole)
		for _, step := range []string{"file begun", "file written", "file named", "file listed"} {
			for name, target := range map[string]export.Target{"directory": &export.Directory{Path: t.TempDir()}, "bucket": w.bucket("killed/" + format + step + "/")} {
				t.Run(fmt.Sprint(format, " ", step, " ", name), func(t *testing.T) {
					random := rand.New(rand.NewPCG(1, 2))
					died := 0
					for died <= 4*len(m.Files) {
						x := w.export(format, target)
						left := random.IntN(3)
						x.Step = func(at string) error {
							if at != step {
								return nil
							}
							if left--; left < 0 {
								return errKilled
							}
							return nil
						}
						x.Workers = 1
						if _, err := x.Run(t.Context()); err == nil {
							break
						} else if !errors.Is(err, errKilled) {
							t.Fatal(err)
						}
						died++
						if d, is := target.(*export.Directory); is { // what a killed process leaves
							for _, name := range []string{".partial-1", "billing-0000-000000000001-000000000002." + format} {
								if err := os.WriteFile(filepath.Join(d.Path, name), []byte("half"), 0o600); err != nil {
									t.Fatal(err)
								}
							}
						}
						if died > len(m.Files)/2 && step != "file listed" { // a step that never gets further
							run(t, w.export(format, target))
							break
						}
					}
					if died == 0 {
						t.Error("the export was never killed")
					}
					if diff := cmp.Diff(want, content(t, target)); diff != "" {
						t.Errorf("(-uninterrupted +resumed):\n%.2000s", diff)
					}
				})
			}
		}
	}
}

// TestTheStoreIsDown: an export to an object store that goes away ends with an error that
// says how to go on, and goes on when the store is back.
func TestTheStoreIsDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 30)
	store := teststack.Objects(t)
	proxy := teststack.NewProxy(t, strings.TrimPrefix(store.Endpoint, "http://"))
	pauses := 0
	target := &export.Bucket{
		Prefix: "p/", Pause: func(ctx context.Context, _ time.Duration) error { pauses++; return ctx.Err() },
		Store: objects.New(objects.Config{
			Endpoint: "http://" + proxy.Addr, Region: store.Region, Bucket: store.Bucket, AccessKey: store.AccessKey, SecretKey: store.SecretKey,
		}),
	}
	x := w.export(export.Parquet, target)
	x.Workers = 1
	files := 0
	x.Step = func(step string) error {
		if step == "file listed" {
			if files++; files == 3 {
				proxy.Refuse()
			}
		}
		return nil
	}
	_, err := x.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "the same command goes on after 3 files") {
		t.Errorf("the error is %v", err)
	}
	if pauses != 5 {
		t.Errorf("%d pauses between calls, want 5", pauses)
	}
	proxy.Heal()
	m := run(t, w.export(export.Parquet, target))
	same(t, exported(t, m, target), w.want)
	whole := &export.Directory{Path: t.TempDir()}
	run(t, w.export(export.Parquet, whole))
	if diff := cmp.Diff(content(t, whole), content(t, target)); diff != "" {
		t.Errorf("(-uninterrupted +resumed):\n%.2000s", diff)
	}
}

// TestRefused: an export does not mix with other files, other options or another log.
func TestRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 5)
	begun := &export.Directory{Path: t.TempDir()}
	run(t, w.export(export.CSV, begun))
	foreign := &export.Directory{Path: t.TempDir()}
	if err := os.WriteFile(filepath.Join(foreign.Path, "x.csv"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	locked := &export.Directory{Path: t.TempDir()}
	if err := locked.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer locked.Close()
	for want, x := range map[string]*export.Export{
		"with format csv, not parquet":       w.export(export.Parquet, begun),
		"with file size 9000, not 1":         {Request: export.Request{Format: export.CSV, FileBytes: 1}, Log: w.log, Target: begun},
		`{"families":["billing"]}`:           {Request: export.Request{Format: export.CSV, FileBytes: 9000, Filters: export.Filters{Families: []events.Family{events.Billing}}}, Log: w.log, Target: begun},
		"the Kafka cluster":                  {Request: w.export(export.CSV, begun).Request, Log: export.Log{Cluster: "other", Topics: w.log.Topics}, Target: begun},
		"the topic id of":                    {Request: w.export(export.CSV, begun).Request, Log: changed(w.log, func(topic *export.Topic) { topic.ID = "other" }), Target: begun},
		"the log has lost records":           {Request: w.export(export.CSV, begun).Request, Log: changed(w.log, func(topic *export.Topic) { topic.Ends = make([]int64, 2) }), Target: begun},
		"the target has files, such as x":    w.export(export.CSV, foreign),
		"another export writes to":           w.export(export.CSV, &export.Directory{Path: locked.Path}),
		`format "xml" is unknown`:            {Request: export.Request{Format: "xml", FileBytes: 1}},
		`family "x" is unknown`:              {Request: export.Request{Format: export.CSV, FileBytes: 1, Filters: export.Filters{Families: []events.Family{"x"}}}},
		`event type "x" is unknown`:          {Request: export.Request{Format: export.CSV, FileBytes: 1, Filters: export.Filters{Types: []string{"x"}}}},
		`stream "x" belongs to no`:           {Request: export.Request{Format: export.CSV, FileBytes: 1, Filters: export.Filters{Streams: []string{"x"}}}},
		`account "x" is not an account id`:   {Request: export.Request{Format: export.CSV, FileBytes: 1, Filters: export.Filters{Account: "x"}}},
		`workspace "x" is not a workspace i`: {Request: export.Request{Format: export.CSV, FileBytes: 1, Filters: export.Filters{Workspaces: []string{"x"}}}},
		"0 bytes, must be above zero":        {Request: export.Request{Format: export.CSV}},
	} {
		if _, err := x.Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}

func changed(log export.Log, change func(*export.Topic)) export.Log {
	log.Topics = slices.Clone(log.Topics)
	for i := range log.Topics {
		change(&log.Topics[i])
	}
	return log
}

// between returns a file between two others of its partition, "" if there is none. How
// many files a partition has depends on the random identifiers.
func between(files []string) string {
	partition := func(name string) string { // the name without the offsets
		parts := strings.Split(name, "-")
		return strings.Join(parts[:len(parts)-2], "-")
	}
	for i := 1; i < len(files)-1; i++ {
		if partition(files[i-1]) == partition(files[i]) && partition(files[i]) == partition(files[i+1]) {
			return files[i]
		}
	}
	return ""
}

// TestVerifyFindsDamage: each kind of damage is found and named.
func TestVerifyFindsDamage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 20)
	for name, c := range map[string]struct {
		damage func(dir string, files []string) error
		want   string
	}{
		"missing": {func(dir string, files []string) error { return os.Remove(filepath.Join(dir, files[1])) }, "is missing"},
		"changed": {func(dir string, files []string) error {
			return os.WriteFile(filepath.Join(dir, files[1]), []byte("x"), 0o600)
		}, "has 1 bytes and the SHA-256"},
		"added": {func(dir string, _ []string) error { return os.WriteFile(filepath.Join(dir, "x.csv"), nil, 0o600) }, "x.csv is not in the manifest"},
		"removed from the manifest": {func(dir string, files []string) error {
			between := between(files)
			text, err := os.ReadFile(filepath.Join(dir, export.ManifestName))
			if err != nil {
				return err
			}
			from := strings.Index(string(text), `    {
      "name": "`+between+`"`)
			end := from + strings.Index(string(text[from:]), "},\n") + 3
			return os.WriteFile(filepath.Join(dir, export.ManifestName), append(text[:from:from], text[end:]...), 0o600)
		}, "the file before ends at"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := &export.Directory{Path: t.TempDir()}
			x := w.export(export.CSV, target)
			x.FileBytes = 3000
			run(t, x)
			files := slices.Sorted(maps.Keys(content(t, target)))
			files = slices.DeleteFunc(files, func(name string) bool { return name == export.ManifestName })
			if err := c.damage(target.Path, files); err != nil {
				t.Fatal(err)
			}
			_, found, err := export.Verify(t.Context(), target)
			if err != nil || !slices.ContainsFunc(found, func(s string) bool { return strings.Contains(s, c.want) }) {
				t.Errorf("found %q, %v; want %q", found, err, c.want)
			}
		})
	}
}

// TestFormulas: a spreadsheet does not take a name in a CSV file for a formula, and the
// name is otherwise as it is.
func TestFormulas(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	target := &export.Directory{Path: t.TempDir()}
	m := run(t, w.export(export.CSV, target))
	names := map[string]bool{}
	for _, f := range m.Files {
		for _, row := range csvRows(t, content(t, target)[f.Name]) {
			names[row["name"]] = true
			names[row["item_name"]] = true
		}
	}
	for _, want := range []string{`'=1+1,"quoted"` + "\n", "'-run", "run 0"} {
		if !names[want] {
			t.Errorf("no row has the name %q: %v", want, names)
		}
	}
}

// TestTheReadModelIsBehind: an export does not wait for ever.
func TestTheReadModelIsBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	x := w.export(export.CSV, &export.Directory{Path: t.TempDir()})
	x.Facts, x.Stall = facts.NewFrameReader(w.EventLog, never{}), time.Millisecond
	if _, err := x.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "is the service running?") {
		t.Errorf("the error is %v", err)
	}
}

// never judges nothing.
type never struct{}

func (never) Next(events.Family, int32) int64 { return 0 }

func (never) Changes(...events.Family) (<-chan struct{}, func()) {
	return make(chan struct{}), func() {}
}

func (never) Rejected(context.Context, events.Family, int32, int64, int64) (map[int64]events.Verdict, error) {
	return nil, nil
}
