//go:build faketime

package dst

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
	"unsafe" // for go:linkname

	"github.com/google/uuid"
)

// simSeed is the state of the random numbers of the runtime: of select, maps and
// math/rand.
//
//go:linkname simSeed runtime.simSeed
var simSeed uint64

// simTurns is the hash of the turns of all goroutines.
//
//go:linkname simTurns runtime.simTurns
var simTurns uint64

// simRecord has the first turns, if it has room: what finds out why two runs differ.
//
//go:linkname simRecord runtime.simRecord
var simRecord []uint64

// simDial replaces net.Dialer.
//
//go:linkname simDial net.simDial
var simDial func(ctx context.Context, address string) (net.Conn, error)

// world is one simulation. All that happens in it follows from its seed.
type world struct {
	plan
	random     *rand.Rand
	began      time.Time
	net        *network
	broker     *broker
	db         *database
	statements []statement
	processes  []*process
	truth      *truth
	counts     counts

	connected  int
	collected  int
	deliveries int
	hash       uint64
	events     []string // the last ones
	stacks     []byte   // of all goroutines, when something does not end; they name addresses of this run
	failure    string

	brokerSlow, databaseSlow time.Time
	jobs                     int // goroutines of clients and processes that run
}

// plan is what a simulation does. The driver passes it as JSON.
type plan struct {
	Seed   uint64  `json:"seed"`
	Rounds int     `json:"rounds"`          // each is a busy time with faults, a check, and a quiet time
	Busy   float64 `json:"busy"`            // minutes
	Quiet  float64 `json:"quiet"`           // minutes
	Trace  string  `json:"trace,omitempty"` // file of the last events
	Turns  string  `json:"turns,omitempty"` // file of the first turns of goroutines: id and state of simSeed, 64 bits each
	Report string  `json:"report"`          // file of the result
	Sparse bool    `json:"sparse"`          // polls, leases, faults and clients are slow, so that an hour costs little
}

// counts is what happened.
type counts struct {
	Operations     int            `json:"operations"` // acknowledged commands and reads
	Unknown        int            `json:"unknown"`    // attempts without an answer
	Reactions      int            `json:"reactions"`
	Records        int            `json:"records"`
	Rejected       int            `json:"rejected"`
	Faults         map[string]int `json:"faults"`
	LostCommits    int            `json:"lostCommits"`
	leases         int
	refusedCommits int
}

// report is the result of a simulation.
type report struct {
	counts

	Leases         int     `json:"leases"`         // acquired
	RefusedCommits int     `json:"refusedCommits"` // by the compare-and-set
	Hours          float64 `json:"hours"`          // of virtual time
	Hash           string  `json:"hash"`           // of all events
	Messages       int     `json:"messages"`
	CPU            float64 `json:"cpu"` // seconds
	Failure        string  `json:"failure,omitempty"`
}

func newWorld(p plan) *world {
	w := &world{plan: p, random: rand.New(rand.NewPCG(p.Seed, 0)), statements: statements(), hash: 14695981039346656037}
	w.counts.Faults = map[string]int{}
	w.began = time.Now()
	w.truth = newTruth(w)
	w.net = newNetwork(w)
	w.broker = newBroker(w)
	w.db = newDatabase(w)
	w.net.servers[brokerPort] = w.broker.serve
	w.net.servers[databasePort] = w.db.serve
	uuid.SetRand(randomBytes{rand.New(rand.NewPCG(p.Seed, 1))})
	simDial = w.net.dial
	simSeed = p.Seed
	if p.Turns != "" {
		simRecord = make([]uint64, 0, 1<<24)
	}
	return w
}

const (
	brokerPort   = "9092"
	databasePort = "5432"
)

type randomBytes struct{ *rand.Rand }

func (r randomBytes) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return len(b), nil
}

func (w *world) now() time.Time { return time.Now() }

// latency is the delay of a delivery. No two are equal, in nanoseconds, so one thing
// happens at a time.
func (w *world) latency(l *link) time.Duration {
	d := 20*time.Microsecond + time.Duration(w.random.Int64N(int64(400*time.Microsecond)))
	if w.random.IntN(200) == 0 {
		d += time.Duration(w.random.Int64N(int64(20 * time.Millisecond)))
	}
	if w.now().Before(l.slowUntil) {
		d += time.Duration(w.random.Int64N(int64(l.slow) + 1))
	}
	return d
}

func (w *world) pauseBroker()   { w.pauseUntil(w.brokerSlow) }
func (w *world) pauseDatabase() { w.pauseUntil(w.databaseSlow) }

// pauseUntil delays a request to a server that is slow until a time.
func (w *world) pauseUntil(slow time.Time) {
	if w.now().Before(slow) {
		time.Sleep(time.Duration(w.random.Int64N(int64(300 * time.Millisecond))))
	}
}

// keptEvents bounds the trace.
const keptEvents = 50_000

// event adds to the trace.
func (w *world) event(format string, args ...any) {
	line := fmt.Sprintf("%.9f %08x ", w.now().Sub(w.began).Seconds(), uint32(simTurns>>32)) + fmt.Sprintf(format, args...)
	w.mix([]byte(line))
	if w.events = append(w.events, line); len(w.events) > 2*keptEvents {
		w.events = slices.Clone(w.events[keptEvents:])
	}
}

func (w *world) mix(b []byte) {
	h := fnv.New64a()
	h.Write(b) //nolint:errcheck // never fails
	w.hash = (w.hash ^ h.Sum64()) * 1099511628211
}

// delivered notes that a message arrives. All of them are in the hash of the trace.
func (w *world) delivered(from *conn, b []byte) {
	w.deliveries++
	direction := uint64(0)
	if from.server {
		direction = 1
	}
	for _, v := range []uint64{uint64(w.now().UnixNano()), uint64(from.id), direction, uint64(sum(b))} {
		w.hash = (w.hash ^ v) * 1099511628211
	}
}

// fail ends the simulation with a violation.
func (w *world) fail(format string, args ...any) {
	w.failure = fmt.Sprintf(format, args...)
	w.event("FAILED: %s", w.failure)
	w.finish()
}

// stacksFile gets the stacks of all goroutines of a simulation that does not end.
const stacksFile = "stacks"

// failWithStacks is fail for what does not end. The stacks are not in the trace: they
// have addresses that the system gives to each process at random.
func (w *world) failWithStacks(format string, args ...any) {
	w.stacks = make([]byte, 4<<20)
	w.stacks = w.stacks[:runtime.Stack(w.stacks, true)]
	w.fail(format, args...)
}

// finish writes the report and ends the program.
func (w *world) finish() {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	r := report{
		counts: w.counts, Leases: w.counts.leases, RefusedCommits: w.counts.refusedCommits,
		Hours: w.now().Sub(w.began).Hours(), Hash: fmt.Sprintf("%016x", w.hash^simTurns), Messages: w.deliveries, Failure: w.failure,
		CPU: float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9,
	}
	out, err := json.Marshal(r)
	if err == nil {
		err = os.WriteFile(w.Report, out, 0o600)
	}
	if err == nil && w.Turns != "" {
		err = os.WriteFile(w.Turns, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(simRecord))), len(simRecord)*8), 0o600)
	}
	if err == nil && w.Trace != "" {
		err = os.WriteFile(w.Trace, []byte(strings.Join(w.events, "\n")+"\n"), 0o600)
	}
	if err == nil && w.stacks != nil {
		err = os.WriteFile(stacksFile, w.stacks, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(0)
}

// collectEvery is how many messages pass between garbage collections.
const collectEvery = 200_000

// rest lets time pass. Garbage is collected only here, at an instant at which no other
// goroutine runs, so that it does not change the order of anything.
func (w *world) rest(d time.Duration) {
	for until := w.now().Add(d); w.now().Before(until); {
		time.Sleep(min(until.Sub(w.now()), time.Second+time.Duration(w.random.IntN(1e6))))
		if w.deliveries/collectEvery != w.collected {
			w.collected = w.deliveries / collectEvery
			runtime.GC()
		}
	}
}

func (w *world) minutes(m float64) time.Duration { return time.Duration(m * float64(time.Minute)) }

// logger puts what the service logs into the trace.
func (w *world) logger(process string) *slog.Logger {
	return slog.New(traceHandler{w: w, process: process})
}

type traceHandler struct {
	slog.Handler
	w       *world
	process string
}

func (h traceHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo
}

func (h traceHandler) Handle(_ context.Context, r slog.Record) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s: %s", h.process, r.Level, r.Message)
	r.Attrs(func(a slog.Attr) bool {
		fmt.Fprintf(&text, " %s=%v", a.Key, a.Value)
		return true
	})
	h.w.event("%s", text.String())
	return nil
}

func (h traceHandler) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h traceHandler) WithGroup(string) slog.Handler      { return h }

func sortBy[T any, K cmp.Ordered](all []T, key func(T) K) {
	slices.SortFunc(all, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
}
