package operate_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"netsim/audit"
	"netsim/cmd/operate"
	"netsim/cmd/settings"
	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/objects"
	"netsim/internal/servicetest"
	"netsim/internal/testworld"
)

// audited is a service with an account that has run simulations, and with a log
// checkpoint.
type audited struct {
	*servicetest.Program
	account string
	config  settings.Audit
}

func newAudited(t *testing.T) audited {
	t.Helper()
	a := audited{Program: servicetest.Start(t), account: servicetest.NewAccount()}
	of := settings.Offline{TopicPrefix: a.Config.TopicPrefix, Platform: a.Config.Platform, Key: a.Config.AuditKey}
	a.config = settings.Audit{Online: settings.Online{Offline: of, Kafka: a.Config.Kafka}, Postgres: a.Config.Postgres}
	a.Grant(t, a.account, "100")
	user, client := a.User(t, a.account), a.Service(t, a.account)
	workspace := client.Post("/api/v1/workspaces", map[string]any{"name": "lab"}).Want(http.StatusCreated).Object()
	for range 2 {
		sim := user.Post("/api/v1/simple/simulations", servicetest.SimpleSubmission(16)).Want(http.StatusAccepted).Object()["simulationId"].(string)
		user.Eventually("/api/v1/simulations/"+sim, servicetest.HasStatus("completed"))
		user.Delete("/api/v1/simulations/" + sim)
	}
	client.Delete("/api/v1/workspaces/" + workspace["id"].(string))
	a.daily(t)
	a.quiet(t)
	a.Checkpoint(t, "first")
	return a
}

// daily waits until the job of the daily checkpoint has run. Every start of a service
// enqueues this job.
func (a audited) daily(t *testing.T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), a.Config.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing was written
	testworld.Await(t, func() bool {
		var done bool
		err := conn.QueryRow(t.Context(),
			`SELECT EXISTS (SELECT FROM jobs.river_job WHERE kind = 'publish_checkpoint' AND state = 'completed')`).Scan(&done)
		if err != nil {
			t.Fatal(err)
		}
		return done
	})
}

func (a audited) quiet(t *testing.T) {
	t.Helper()
	servicetest.AwaitQuiet(t, a.Config.Kafka[0], a.Config.TopicPrefix, a.Config.Postgres)
}

func (a audited) open(t *testing.T) *operate.Auditor {
	t.Helper()
	auditor, err := operate.OpenAudit(t.Context(), a.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(auditor.Close)
	return auditor
}

func (a audited) verifier(t *testing.T) string {
	t.Helper()
	verifier, err := operate.Verifier("", a.config.Key)
	if err != nil {
		t.Fatal(err)
	}
	return verifier
}

func (a audited) verify(t *testing.T) audit.Report {
	t.Helper()
	r, err := a.open(t).Verify(t.Context(), a.verifier(t))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (a audited) replay(t *testing.T) audit.Replayed {
	t.Helper()
	r, err := a.open(t).Replay(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (a audited) exec(t *testing.T, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), a.Config.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // the statement has ended
	tag, err := conn.Exec(t.Context(), sql)
	if err != nil || tag.RowsAffected() == 0 {
		t.Fatalf("%s: %d rows, %v", sql, tag.RowsAffected(), err)
	}
}

// stored verifies the note of a log checkpoint that is stored in the object store.
func (a audited) stored(t *testing.T, name string) {
	t.Helper()
	store := objects.New(objects.Config{
		Endpoint: a.Config.S3Endpoint, Region: a.Config.S3Region, Bucket: a.Config.S3Bucket,
		AccessKey: a.Config.S3AccessKey, SecretKey: a.Config.S3SecretKey,
	})
	content, _, err := store.Get(t.Context(), "checkpoints/"+name+".note")
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close() //nolint:errcheck // the content was only read
	note, err := io.ReadAll(content)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := audit.OpenCheckpoint(string(note), a.verifier(t)); err != nil || c.Name != name || c.Chains == 0 {
		t.Errorf("the stored note %s gives %+v, %v; want checkpoint %s", note, c, err, name)
	}
}

// complete checks that a replay compares every column of its tables.
func (a audited) complete(t *testing.T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), a.Config.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing was written
	for _, table := range audit.Tables() {
		var compared, there []string
		for _, c := range table.Columns {
			compared = append(compared, c.Name)
		}
		err := conn.QueryRow(t.Context(), `SELECT array_agg(column_name::text) FROM information_schema.columns
			WHERE table_schema = 'readmodel' AND table_name = $1`, table.Name).Scan(&there)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(compared)
		slices.Sort(there)
		if diff := cmp.Diff(there, compared); diff != "" {
			t.Errorf("columns of %s (-table +compared):\n%s", table.Name, diff)
		}
	}
}

// copyLog copies the log to topics with another prefix, and changes the value of the
// account's second event in the copy.
func (a audited) copyLog(t *testing.T) (prefix string) {
	t.Helper()
	prefix = events.NewID("copy") + "."
	from, to := a.eventLog(t, a.Config.TopicPrefix), a.eventLog(t, prefix)
	if err := to.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	log, err := from.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	changed := false
	for _, topic := range log.Topics {
		for number, part := range topic.Partitions {
			for next := int64(0); next < part.End; {
				records, _, err := from.Read(t.Context(), topic.Name, int32(number), next, 1<<20, time.Second)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range records {
					if f, _, err := events.ReadFrame(&r.Message); err == nil && f.Stream == a.account && f.Sequence == 2 {
						r.Value, changed = append(bytes.Clone(r.Value[:len(r.Value)-1]), ' ', '}'), true
					}
					if _, err := to.Append(to.Topic(topic.Family), int32(number), r.Message).Wait(t.Context()); err != nil {
						t.Fatal(err)
					}
					next = r.Offset + 1
				}
			}
		}
	}
	if !changed {
		t.Fatal("the log has no second event of the account to change")
	}
	return prefix
}

func (a audited) eventLog(t *testing.T, prefix string) *eventlog.Kafka {
	t.Helper()
	j, err := eventlog.Open(t.Context(), eventlog.Config{
		Brokers: a.Config.Kafka, Prefix: prefix, Partitions: a.Config.Partitions, Relaxed: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Close)
	return j
}

// TestNoAuditKey: without an audit key the service runs, but its health is degraded and
// names the reason.
func TestNoAuditKey(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.AuditKey = "" })
	user := p.User(t, servicetest.NewAccount())
	ready := user.Eventually("/api/v1/health/ready", func(r servicetest.Reply) bool {
		return strings.Contains(fmt.Sprint(r.Object()["checks"]), "no checkpoints are published")
	})
	if status := ready.Object()["status"]; status != "degraded" {
		t.Errorf("the service is %v, want degraded", status)
	}
	tools, err := operate.OpenTools(t.Context(), p.Config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer tools.Close()
	if _, err := tools.Checkpoint(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "NETSIM_AUDIT_KEY") {
		t.Errorf("a checkpoint without a key: got %v, want an error that names NETSIM_AUDIT_KEY", err)
	}
}

// TestAudit: the log, the read model and a bundle of a service pass verification.
// Changes in the read model and in a copy of the log are found.
func TestAudit(t *testing.T) {
	t.Parallel()
	a := newAudited(t)
	before := a.verify(t).Checkpoints
	a.Checkpoint(t, "first")
	if after := a.verify(t).Checkpoints; after != before {
		t.Errorf("%d checkpoints before and %d after publishing one of them again, want the same", before, after)
	}
	a.Checkpoint(t, "second")
	a.quiet(t)

	r := a.verify(t)
	if len(r.Findings) > 0 || r.Checkpoints < 3 || r.Facts < 20 || r.Covered == 0 || r.Covered > r.Facts {
		t.Errorf("verification of the log: %+v", r)
	}
	replayed := a.replay(t)
	if len(replayed.Findings) > 0 || replayed.Rated.Days < 4 || replayed.Rows["daily_costs"] < 4 || replayed.Rows["balances"] == 0 {
		t.Errorf("replay of billing: %+v", replayed)
	}

	a.stored(t, "first")
	a.complete(t)

	var bundle bytes.Buffer
	today := time.Now().UTC().Format(time.DateOnly)
	if err := a.open(t).Bundle(t.Context(), audit.Request{Account: a.account, From: today, To: today, Preliminary: true}, &bundle); err != nil {
		t.Fatal(err)
	}
	proved, err := audit.VerifyBundle(&bundle, audit.Wanted{Verifier: a.verifier(t), Preliminary: true})
	if err != nil || len(proved.Problems) > 0 || proved.Costs < 4 || proved.Checkpoints < 3 || proved.Rated.Days < 4 {
		t.Errorf("verification of the bundle: %+v, %v", proved, err)
	}

	for name, sql := range map[string]string{
		"a cost":    `UPDATE readmodel.daily_costs SET cost = '0.5' WHERE id = (SELECT min(id) FROM readmodel.daily_costs)`,
		"an event":  `UPDATE readmodel.billing_events SET current_count = 7 WHERE id = (SELECT min(id) FROM readmodel.billing_events)`,
		"an item":   `DELETE FROM readmodel.billing_items WHERE id = (SELECT min(id) FROM readmodel.billing_items)`,
		"a total":   `UPDATE readmodel.cost_totals SET total = total + 1`,
		"a balance": `UPDATE readmodel.balances SET debits = 0.1`,
		"a rate":    `UPDATE readmodel.rates SET amount = '11.00' WHERE id = 1`,
		"a new row": `INSERT INTO readmodel.credit_holds VALUES ('sim_x', 'acct_x', '1', 'CREDIT', now(), NULL)`,
	} {
		a.exec(t, sql)
		if again := a.replay(t); len(again.Findings) <= len(replayed.Findings) {
			t.Errorf("%s was changed, but not found: %+v", name, again)
		} else {
			replayed = again
		}
	}
	copied := a
	copied.config.Postgres = ""
	copied.config.TopicPrefix = a.copyLog(t)
	if said := fmt.Sprint(copied.verify(t).Findings); !strings.Contains(said, "the event before sequence") {
		t.Errorf("a value was changed in a copy of the log: found %s", said)
	}
	a.exec(t, `UPDATE readmodel.offsets SET digest = '\x00' WHERE facts > 0`)
	if r := a.verify(t); len(r.Findings) == 0 {
		t.Error("changed digests of the read model were not found")
	}
}
