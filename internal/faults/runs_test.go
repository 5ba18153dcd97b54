package faults_test

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

	"netsim/cmd/settings"
	"netsim/events"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

// TestKilledRuns kills the worker process with SIGKILL at random points: while it starts,
// runs, writes an engine snapshot, or ends a run. Another process continues the run. Its
// results equal those of "netsim engine run" with the receipt byte for byte, and the run
// is billed once.
//
// NETSIM_TEST_KILLS bounds the number of kills, and NETSIM_TEST_SEED sets the random seed.
func TestKilledRuns(t *testing.T) {
	kills, seed := kills(t, 20), servicetest.Number(t, "NETSIM_TEST_SEED", 1)
	random := rand.New(rand.NewPCG(uint64(seed), 5))
	k := newKilled(t)
	planned := kills
	var all []string
	for running := ""; kills > 0 || running != ""; {
		if running == "" {
			running = k.begin()
			all = append(all, running)
		}
		k.start()
		if kills == 0 {
			k.awaitEnd(running)
			running = ""
		} else if k.runFor(running, int64(random.IntN(4)), time.Duration(random.IntN(400))*time.Millisecond) {
			running = "" // the simulation completed before the kill
		} else {
			kills--
		}
		k.kill()
	}

	resumed := 0
	for _, id := range all {
		resumed += k.check(id)
	}
	t.Logf("%d kills; %d simulations resumed from an engine snapshot %d times", planned, len(all), resumed)
	if resumed < planned/4 {
		t.Errorf("after %d kills, runs resumed from an engine snapshot only %d times, want at least %d", planned, resumed, planned/4)
	}
}

// killed is a service without workers, and a worker in another process, which is killed.
type killed struct {
	servicetest.Journey

	program *servicetest.Program
	service *servicetest.Client
	binary  string
	env     []string // of the workers, beside the usual
	log     *os.File
	child   *exec.Cmd
	db      *pgx.Conn
}

func newKilled(t *testing.T) *killed {
	t.Helper()
	p := servicetest.Start(t, func(c *settings.Config) {
		c.Roles = []string{settings.RoleAPI, settings.RoleProjector, settings.RoleReactor}
	})
	account := servicetest.NewAccount()
	p.Grant(t, account, "1000")
	k := &killed{Journey: servicetest.Journey{T: t, Client: p.User(t, account)}, program: p, service: p.Service(t, account), binary: teststack.Netsim(t)}
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
			t.Logf("the log of the workers ends with:\n%s", said[max(0, len(said)-8000):])
		}
	})
	first := (&servicetest.Journey{T: t, Client: k.Client}).AllToAlls("killed", 128, 16, 1<<20)
	k.Configuration = events.DerivedID(events.ConfigurationPrefix, first)
	k.start()
	k.Completed(first)
	k.kill()
	return k
}

// start starts a worker.
func (k *killed) start() {
	k.T.Helper()
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
	k.child.Env = append(k.child.Env, k.env...)
	k.child.Stdout, k.child.Stderr = k.log, k.log
	k.child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := k.child.Start(); err != nil {
		k.T.Fatal(err)
	}
}

// kill ends the worker with SIGKILL and waits until it has ended.
func (k *killed) kill() {
	if k.child != nil {
		k.child.Process.Kill() //nolint:errcheck // the process may have ended
		k.child.Wait()         //nolint:errcheck // the worker's log has the error
		k.child = nil
	}
}

// begin submits a simulation with engine snapshots.
func (k *killed) begin() string {
	k.T.Helper()
	return k.Client.Post("/api/v1/simulations", object{
		"configurationId": k.Configuration, "name": "killed", "duration": "1h", "checkpointing": object{"enabled": true, "interval": "10s"},
	}).Want(201).Text("id")
}

// state returns the status of a simulation and its number of engine snapshots.
func (k *killed) state(id string) (status string, checkpoints int64) {
	k.T.Helper()
	err := k.db.QueryRow(k.T.Context(), `SELECT status, checkpoint FROM readmodel.simulations WHERE id = $1`, id).Scan(&status, &checkpoints)
	if err != nil {
		k.T.Fatal(err)
	}
	return status, checkpoints
}

// runFor waits until the worker has stored more engine snapshots and a while has passed.
// It reports whether the simulation has completed by then.
func (k *killed) runFor(id string, checkpoints int64, while time.Duration) bool {
	k.T.Helper()
	_, before := k.state(id)
	k.awaitEnd(id, func(now int64) bool { return now >= before+checkpoints })
	return k.ended(id, while)
}

// awaitEnd waits until the simulation has completed or the condition or is true.
func (k *killed) awaitEnd(id string, or ...func(checkpoints int64) bool) {
	k.T.Helper()
	deadline := time.Now().Add(testwait.Limit(k.T))
	for {
		status, checkpoints := k.state(id)
		switch {
		case status == "completed", len(or) > 0 && or[0](checkpoints):
			return
		case status == "failed" || status == "invalid" || time.Now().After(deadline):
			k.T.Fatalf("%s is %s after %d engine snapshots, want completed", id, status, checkpoints)
		}
		<-time.After(2 * time.Millisecond)
	}
}

// ended waits for a while and reports whether the simulation has completed by then.
func (k *killed) ended(id string, while time.Duration) bool {
	k.T.Helper()
	<-time.After(while)
	status, _ := k.state(id)
	return status == "completed"
}

// check compares a simulation with an undisturbed run, and returns how often it resumed
// from an engine snapshot.
func (k *killed) check(id string) (resumed int) {
	k.T.Helper()
	sim := "/api/v1/simulations/" + id
	var listed struct {
		Files []struct{ FileName, Type string }
	}
	k.Client.Get(sim + "/results?limit=100").Want(200).Into(&listed)
	states := 0
	for _, f := range listed.Files {
		if f.Type == "state" {
			states++
		}
	}
	if _, stored := k.state(id); stored < 1 || states != int(min(stored, 2)) {
		k.T.Errorf("%s lists %d of %d engine snapshots, want the last two", id, states, stored)
	}
	dir := k.Reproducible(id)
	want := fmt.Sprintf("reproduced: %d files equal\n", servicetest.ReceiptFiles(k.T, dir))
	if said, err := servicetest.Offline(k.T, k.binary, dir); err != nil || said != want {
		k.T.Errorf("engine run with the receipt of %s: %v: %s, want %s", id, err, said, want)
	}
	k.service.Eventually("/api/v1/billing/items?status=closed&limit=100", func(r servicetest.Reply) bool {
		return strings.Count(string(r.Body), id) > 0
	})
	var items string
	err := k.db.QueryRow(k.T.Context(), `
		SELECT string_agg(resource_type, ' ' ORDER BY resource_type) FROM readmodel.billing_items WHERE resource_id = $1`, id).Scan(&items)
	if err != nil || items != "results simulation" {
		k.T.Errorf("%s has the billing items %s (%v), want one of the results and one of the run", id, items, err)
	}
	log := string(k.Client.Get(sim + "/logs?component=provisioner&limit=100").Want(200).Body)
	return strings.Count(log, "another worker resumes from engine snapshot")
}
