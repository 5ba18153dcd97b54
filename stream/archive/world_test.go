package archive_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/mod/sumdb/note"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/objects"
	"netsim/internal/teststack"
	"netsim/stream/archive"
	"netsim/stream/export"
)

// world is a log with records of all shapes, and a key.
type world struct {
	t        testing.TB
	log      *eventlog.Kafka
	key      note.Signer
	verifier string
}

const partitions = 2

func newWorld(t testing.TB, records int) *world {
	t.Helper()
	private, public, err := note.GenerateKey(nil, "test")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, verifier: public}
	if w.key, err = note.NewSigner(private); err != nil {
		t.Fatal(err)
	}
	w.log = open(t, prefix(t))
	if err := w.log.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.append(records)
	return w
}

// prefix returns a prefix of topics that no other test uses.
func prefix(testing.TB) string {
	return events.NewID("t") + "."
}

func open(t testing.TB, prefix string) *eventlog.Kafka {
	t.Helper()
	log, err := eventlog.Open(t.Context(), eventlog.Config{
		Brokers: teststack.Broker(t), Prefix: prefix, Partitions: partitions, Relaxed: true, Beside: []string{prefix + "poison"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(log.Close)
	return log
}

// append appends records with and without keys, values and headers to every partition.
func (w *world) append(count int) {
	w.t.Helper()
	random := rand.New(rand.NewPCG(uint64(count), 1))
	bytes := func(most int) []byte {
		if random.IntN(8) == 0 {
			return nil
		}
		b := make([]byte, random.IntN(most))
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return b
	}
	var all []*eventlog.Pending
	for i := range count {
		m := events.Message{Key: bytes(40), Value: bytes(3000)}
		for range random.IntN(4) {
			m.Headers = append(m.Headers, events.Header{Key: fmt.Sprint("h", random.IntN(9)), Value: bytes(60)})
		}
		family := events.Families()[i%3]
		all = append(all, w.log.Append(w.log.Topic(family), int32(i/3%partitions), m))
	}
	for _, p := range all {
		if _, err := p.Wait(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) archiver(target archive.Target) *archive.Archiver {
	return &archive.Archiver{Log: w.log, Target: target, Key: w.key, Keys: []string{w.verifier}, SegmentBytes: 20_000}
}

func (w *world) directory() *export.Directory { return &export.Directory{Path: w.t.TempDir()} }

// bucket returns a target in a bucket of its own.
func bucket(t testing.TB) *export.Bucket {
	t.Helper()
	store := teststack.Objects(t)
	return &export.Bucket{Prefix: "log/", Store: objects.New(objects.Config{
		Endpoint: store.Endpoint, Region: store.Region, Bucket: store.Bucket, AccessKey: store.AccessKey, SecretKey: store.SecretKey,
	})}
}

func (w *world) run(a *archive.Archiver) {
	w.t.Helper()
	if err := a.Run(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) open(target archive.Target) *archive.Archive {
	w.t.Helper()
	a, damage, err := archive.Open(w.t.Context(), target, []string{w.verifier})
	if err != nil || len(damage) > 0 {
		w.t.Fatalf("the archive: %v %v", damage, err)
	}
	if damage, err := a.Verify(w.t.Context()); err != nil || len(damage) > 0 {
		w.t.Fatalf("the archive: %v %v", damage, err)
	}
	return a
}

// content returns the files of a directory.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(text)
	}
	return all
}

// stored is a record as a test compares it.
type stored struct {
	Key, Value string
	NoKey      bool
	NoValue    bool
	Headers    string
	Time       time.Time
}

// records returns all records of a log, by topic without the prefix and partition.
func records(t *testing.T, log *eventlog.Kafka) map[string][]stored {
	t.Helper()
	d, err := log.DescribeAll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]stored{}
	for _, topic := range d.Topics {
		for n, p := range topic.Partitions {
			name := fmt.Sprint(topic.Family, "/", n)
			for next := int64(0); next < p.End; {
				got, _, err := log.Read(t.Context(), topic.Name, int32(n), next, 1<<20, time.Second)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range got {
					if r.Offset != next {
						t.Fatalf("%s has offset %d, want %d", name, r.Offset, next)
					}
					next++
					all[name] = append(all[name], stored{
						string(r.Key), string(r.Value), r.Key == nil, r.Value == nil, fmt.Sprintf("%q", r.Headers), r.Time,
					})
				}
			}
		}
	}
	return all
}

// forged returns the file of a segment with one byte of a record changed, compressed to
// the same size, with correct checksums.
func forged(t *testing.T, noted, file string) string {
	t.Helper()
	_, line, _ := strings.Cut(noted, "\nsection ")
	words := strings.Fields(line)
	size, err := strconv.Atoi(words[5])
	if err != nil {
		t.Fatal(err)
	}
	unzip, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer unzip.Close()
	zip, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	set, err := unzip.DecodeAll([]byte(file[:size]), nil)
	if err != nil {
		t.Fatal(err)
	}
	all, err := eventlog.ReadBatches(set, "x", 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if len(all[i].Value) == 0 {
			continue
		}
		for bit := range 8 {
			all[i].Value[0] ^= 1 << bit
			if packed := zip.EncodeAll(eventlog.AppendBatches(nil, all), nil); len(packed) == size {
				return string(packed) + file[size:]
			}
			all[i].Value[0] ^= 1 << bit
		}
	}
	t.Fatal("no forged section has the size of the real one")
	return ""
}

// names returns the names of the notes in a directory, in order.
func names(files map[string]string, suffix string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(name string) bool { return !strings.HasSuffix(name, suffix) })
}
