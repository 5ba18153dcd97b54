package service_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/internal/service"
	"netsim/internal/service/servicetest"
)

// TestKilledRuns kills the process that runs simulations with -9 at random
// points: while it starts, runs, writes an engine snapshot, or ends a run. Another
// goes on, and what comes of it is what "netsim engine run" makes of the receipt
// undisturbed, to the byte, and costs one item.
//
// NETSIM_TEST_KILLS and NETSIM_TEST_SEED change how many kills and which.
func TestKilledRuns(t *testing.T) {
	t.Parallel()
	kills, seed := number(t, "NETSIM_TEST_KILLS", 20), number(t, "NETSIM_TEST_SEED", 1)
	random := rand.New(rand.NewPCG(uint64(seed), 5))
	k := newKilled(t)
	asked := kills
	var all []string
	for running := ""; kills > 0 || running != ""; {
		if running == "" {
			running = k.begin()
			all = append(all, running)
		}
		k.start()
		if kills == 0 {
			k.ends(running, time.Minute)
			running = ""
		} else if k.lives(running, int64(random.IntN(4)), time.Duration(random.IntN(400))*time.Millisecond) {
			running = "" // it was faster
		} else {
			kills--
		}
		k.kill()
	}

	resumed := 0
	for _, id := range all {
		resumed += k.check(id)
	}
	t.Logf("%d kills; %d simulations went on from a checkpoint %d times", asked, len(all), resumed)
	if resumed < asked/4 {
		t.Errorf("of %d kills, runs went on from a checkpoint after %d only", asked, resumed)
	}
}

// killed is a service without workers, and a worker in a process of its own.
type killed struct {
	journey

	program       *servicetest.Program
	service       *servicetest.Client
	binary        string
	configuration string
	log           *os.File
	child         *exec.Cmd
	db            *pgx.Conn
}

func newKilled(t *testing.T) *killed {
	t.Helper()
	p := servicetest.Start(t, func(c *service.Config) {
		c.Roles = []string{service.RoleAPI, service.RoleProjector, service.RoleReactor}
	})
	account := servicetest.NewAccount()
	p.Grant(t, account, "1000")
	k := &killed{journey: journey{t: t, c: p.User(t, account)}, program: p, service: p.Service(t, account), binary: buildNetsim(t)}
	var err error
	if k.log, err = os.Create(filepath.Join(t.TempDir(), "worker.log")); err != nil {
		t.Fatal(err)
	}
	if k.db, err = pgx.Connect(t.Context(), p.Config.Postgres); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		k.kill()
		k.db.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing was written
		if t.Failed() {
			said, _ := os.ReadFile(k.log.Name())
			t.Logf("the workers said:\n%s", said[max(0, len(said)-8000):])
		}
	})
	first := (&journey{t: t, c: k.c}).allToAlls("killed", 128, 16, 1<<20)
	k.configuration = events.DerivedID(events.ConfigurationPrefix, first)
	k.start()
	k.completed(first)
	k.kill()
	return k
}

// start starts a worker.
func (k *killed) start() {
	k.t.Helper()
	c := &k.program.Config
	k.child = exec.Command(k.binary, "serve")
	k.child.Env = append(os.Environ(),
		"NETSIM_ROLES=worker", "NETSIM_HTTP=127.0.0.1:0", "NETSIM_OPS=127.0.0.1:0", "NETSIM_DATA_DEV=true",
		"NETSIM_KAFKA="+strings.Join(c.Kafka, ","), "NETSIM_TOPIC_PREFIX="+c.TopicPrefix, fmt.Sprint("NETSIM_PARTITIONS=", c.Partitions),
		"NETSIM_POSTGRES="+c.Postgres, "NETSIM_S3_ENDPOINT="+c.S3Endpoint, "NETSIM_S3_REGION="+c.S3Region, "NETSIM_S3_BUCKET="+c.S3Bucket,
		"NETSIM_S3_ACCESS_KEY="+c.S3AccessKey, "NETSIM_S3_SECRET_KEY="+c.S3SecretKey, "NETSIM_WRITER_KEYS="+c.WriterKeys,
		"NETSIM_OIDC_ISSUER="+c.Issuer, "NETSIM_OIDC_JWKS_URL="+c.JWKS, "NETSIM_OIDC_AUDIENCE="+c.Audience, "NETSIM_ACCOUNT="+c.Account,
		"NETSIM_RUN_CHECKPOINT=40ms", "NETSIM_JOB_RECONCILE=50ms", "NETSIM_JOB_GRACE=50ms", "NETSIM_LOG_LEVEL=WARN",
	)
	k.child.Stdout, k.child.Stderr = k.log, k.log
	k.child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := k.child.Start(); err != nil {
		k.t.Fatal(err)
	}
}

// kill ends the worker with SIGKILL and returns when it is gone.
func (k *killed) kill() {
	if k.child != nil {
		k.child.Process.Kill() //nolint:errcheck // it may be gone
		k.child.Wait()         //nolint:errcheck // its log says more
		k.child = nil
	}
}

// begin submits a simulation with engine snapshots.
func (k *killed) begin() string {
	k.t.Helper()
	return text(k.t, k.c.Post("/api/v1/simulations", object{
		"configurationId": k.configuration, "name": "killed", "duration": "1h", "checkpointing": object{"enabled": true, "interval": "10s"},
	}).Want(201), "id")
}

// state is how far a simulation is.
func (k *killed) state(id string) (status string, checkpoints int64) {
	k.t.Helper()
	err := k.db.QueryRow(k.t.Context(), `SELECT status, checkpoint FROM readmodel.simulations WHERE id = $1`, id).Scan(&status, &checkpoints)
	if err != nil {
		k.t.Fatal(err)
	}
	return status, checkpoints
}

// lives lets the worker live until it has stored so many checkpoints and a while
// has passed, and reports whether it has completed the simulation.
func (k *killed) lives(id string, checkpoints int64, while time.Duration) bool {
	k.t.Helper()
	_, before := k.state(id)
	k.ends(id, time.Minute, func(now int64) bool { return now >= before+checkpoints })
	return k.ended(id, while)
}

// ends waits until the simulation has ended or something else is so.
func (k *killed) ends(id string, within time.Duration, or ...func(checkpoints int64) bool) {
	k.t.Helper()
	deadline := time.Now().Add(within)
	for {
		status, checkpoints := k.state(id)
		switch {
		case status == "completed", len(or) > 0 && or[0](checkpoints):
			return
		case status == "failed" || status == "invalid" || time.Now().After(deadline):
			k.t.Fatalf("%s is %s after %d checkpoints", id, status, checkpoints)
		}
		<-time.After(2 * time.Millisecond)
	}
}

// ended waits for a while and reports whether the simulation has ended by then.
func (k *killed) ended(id string, while time.Duration) bool {
	k.t.Helper()
	<-time.After(while)
	status, _ := k.state(id)
	return status == "completed"
}

// check holds a simulation against an undisturbed run, and returns how often it
// resumed from an engine snapshot.
func (k *killed) check(id string) (resumed int) {
	k.t.Helper()
	sim := "/api/v1/simulations/" + id
	var listed struct {
		Files []struct{ FileName, Type string }
	}
	k.c.Get(sim + "/results?limit=100").Want(200).Into(&listed)
	states := 0
	for _, f := range listed.Files {
		if f.Type == "state" {
			states++
		}
	}
	if _, stored := k.state(id); stored < 1 || states != int(min(stored, 2)) {
		k.t.Errorf("%s lists %d checkpoints of %d", id, states, stored)
	}
	dir := k.reproducible(id)
	want := fmt.Sprintf("reproduced: %d files equal\n", receiptFiles(k.t, dir))
	if said, err := offline(k.t, k.binary, dir); err != nil || said != want {
		k.t.Errorf("%s: %v: %s, want %s", id, err, said, want)
	}
	k.service.Eventually("/api/v1/billing/items?status=closed&limit=100", func(r servicetest.Reply) bool {
		return strings.Count(string(r.Body), id) > 0
	})
	var items string
	err := k.db.QueryRow(k.t.Context(), `
		SELECT string_agg(resource_type, ' ' ORDER BY resource_type) FROM readmodel.billing_items WHERE resource_id = $1`, id).Scan(&items)
	if err != nil || items != "results simulation" {
		k.t.Errorf("%s has the billing items %s (%v)", id, items, err)
	}
	log := string(k.c.Get(sim + "/logs?component=provisioner&limit=100").Want(200).Body)
	return strings.Count(log, "another worker resumes from engine snapshot")
}
