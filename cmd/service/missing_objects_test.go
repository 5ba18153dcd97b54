package service_test

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"netsim/cmd/operate"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
)

// TestMissingObjects: netsim objects missing names each object of a traceset, a mapping
// file and a simulation that the object store has lost or has with another size, also if
// it is the manifest. It names none of what was deleted by a user.
func TestMissingObjects(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t)
	account := servicetest.NewAccount()
	p.Grant(t, account, "1000")
	j := newJourney(t, p.User(t, account))
	mapping := j.ringApart(p.Service(t, account))
	simulation := j.Completed(j.start().Want(201).Text("id"))
	binary := teststack.Netsim(t)
	c := &p.Config
	missing := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), binary, append([]string{"objects", "missing"}, args...)...)
		cmd.Env = []string{
			"NETSIM_DATA_DEV=true", "NETSIM_PARTITIONS=2", "NETSIM_KAFKA=" + strings.Join(c.Kafka, ","), "NETSIM_TOPIC_PREFIX=" + c.TopicPrefix,
			"NETSIM_POSTGRES=" + c.Postgres, "NETSIM_WRITER_KEYS=" + c.WriterKeys, "NETSIM_S3_ENDPOINT=" + c.S3Endpoint, "NETSIM_S3_REGION=" + c.S3Region,
			"NETSIM_S3_BUCKET=" + c.S3Bucket, "NETSIM_S3_ACCESS_KEY=" + c.S3AccessKey, "NETSIM_S3_SECRET_KEY=" + c.S3SecretKey,
			"NETSIM_OIDC_ISSUER=" + c.Issuer, "NETSIM_OIDC_JWKS_URL=" + c.JWKS,
		}
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil && !strings.Contains(said.String(), "objects are missing") {
			t.Fatalf("%v: %s", err, said.String())
		}
		return string(out), err
	}
	type answer struct {
		operate.ObjectsReport
		Objects []operate.MissingObject `json:"objects"`
	}
	want := func(want ...operate.MissingObject) {
		t.Helper()
		out, err := missing("--json")
		var got answer
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		byKey := func(a, b operate.MissingObject) int { return strings.Compare(a.Key, b.Key) }
		slices.SortFunc(want, byKey)
		slices.SortFunc(got.Objects, byKey)
		if diff := cmp.Diff(append([]operate.MissingObject{}, want...), got.Objects); diff != "" {
			t.Errorf("(-want +listed):\n%s", diff)
		}
		if got.Missing != int64(len(want)) || (err != nil) != (len(want) > 0) || got.Referenced < 10 || got.Bytes == 0 {
			t.Errorf("the report is %+v and the error %v, with %d missing objects", got.ObjectsReport, err, len(want))
		}
	}
	want()

	var file, traceset, mapped, prefix, manifest string
	var size int64
	conn, err := pgx.Connect(t.Context(), c.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // the test has ended
	if err := conn.QueryRow(t.Context(), `SELECT files::jsonb->0->>'objectKey', (files::jsonb->0->>'size')::bigint, id FROM readmodel.tracesets`).Scan(&file, &size, &traceset); err != nil {
		t.Fatal(err)
	}
	var mappedSize int64
	if err := conn.QueryRow(t.Context(), `SELECT object_key, size_bytes FROM readmodel.mapping_files WHERE id = $1`, mapping).Scan(&mapped, &mappedSize); err != nil {
		t.Fatal(err)
	}
	if err := conn.QueryRow(t.Context(), `SELECT results_prefix, results_manifest FROM readmodel.simulations WHERE id = $1`, simulation).Scan(&prefix, &manifest); err != nil {
		t.Fatal(err)
	}
	store := p.Beside(t).Objects
	log, err := store.Head(t.Context(), prefix+"run.log")
	if err != nil {
		t.Fatal(err)
	}
	summary, err := store.Head(t.Context(), prefix+"summary.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{file, mapped, log.Key} {
		if err := store.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Put(t.Context(), summary.Key, "application/json", strings.NewReader("{}")); err != nil {
		t.Fatal(err)
	}
	inTraceset := operate.MissingObject{Key: file, Owner: traceset, What: "traceset file", Size: size, Found: -1}
	want(inTraceset,
		operate.MissingObject{Key: mapped, Owner: mapping, What: "mapping file", Size: mappedSize, Found: -1},
		operate.MissingObject{Key: log.Key, Owner: simulation, What: "result file", Size: log.Size, Found: -1},
		operate.MissingObject{Key: summary.Key, Owner: simulation, What: "result file", Size: summary.Size, Found: 2})
	out, err := missing()
	for _, line := range []string{"MISSING " + file + ": traceset file of " + traceset, "WRONG SIZE " + summary.Key + ": result file of " + simulation + ", it has 2 bytes"} {
		if err == nil || !strings.Contains(out, line) {
			t.Errorf("the command says %q and ends with %v, want %q", out, err, line)
		}
	}

	if err := store.Delete(t.Context(), manifest); err != nil {
		t.Fatal(err)
	}
	j.Client.Delete("/api/v1/mapping-files/" + mapping).Want(204)
	want(inTraceset, operate.MissingObject{Key: manifest, Owner: simulation, What: "manifest", Found: -1})
	j.Client.Delete("/api/v1/simulations/" + simulation).Want(200)
	want(inTraceset)
}
