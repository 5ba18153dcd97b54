package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"netsim/infra/doctor"
	"netsim/internal/teststack"
)

// doctorBy runs the command doctor with settings, and returns what it prints and its exit
// status.
func doctorBy(t *testing.T, settings map[string]string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, said strings.Builder
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"doctor"}, args...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = []string{"NETSIM_COMMAND_TEST=1"}, &out, &said
	for name, value := range settings {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	err := cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), said.String(), cmd.ProcessState.ExitCode()
}

// TestDoctorByCommand: while nothing answers, the command says of every component that it
// does not, ends with the exit status 1, and shows no secret. Wrong settings are rows,
// too. Before the first start of the service, nothing fails.
func TestDoctorByCommand(t *testing.T) {
	t.Parallel()
	down := teststack.FreeAddress(t)
	settings := map[string]string{
		"NETSIM_KAFKA": down, "NETSIM_POSTGRES": "postgres://netsim:hidden-1@" + down + "/netsim", "NETSIM_DATA_DEV": "true",
		"NETSIM_S3_ENDPOINT": "http://" + down, "NETSIM_S3_ACCESS_KEY": "hidden-2", "NETSIM_S3_SECRET_KEY": "hidden-3",
		"NETSIM_OIDC_ISSUER": "http://" + down, "NETSIM_OIDC_JWKS_URL": "http://" + down + "/keys", "NETSIM_WRITER_KEYS": strings.Repeat("5e", 32),
	}
	out, said, code := doctorBy(t, settings, "--json", "--timeout", "10m")
	var answer struct {
		Status doctor.Status
		Checks []doctor.Row
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil || code != 1 || answer.Status != doctor.Fail || !strings.Contains(said, "checks failed") {
		t.Fatalf("exit status %d: %v\n%s%s", code, err, out, said)
	}
	failed := map[string]bool{}
	for _, r := range answer.Checks {
		failed[r.Component+", "+r.Check] = r.Status == doctor.Fail
	}
	for _, name := range []string{"kafka, reachable", "postgres, reachable", "object store, reachable", "issuer, keys"} {
		if !failed[name] {
			t.Errorf("%s did not fail: %s", name, out)
		}
	}
	table, _, code := doctorBy(t, settings, "--timeout", "10m")
	for _, want := range []string{"COMPONENT", "no broker answers", "What to do:", "start PostgreSQL", " fail, "} {
		if code != 1 || !strings.Contains(table, want) {
			t.Errorf("exit status %d, and the table lacks %q:\n%s", code, want, table)
		}
	}
	for _, secret := range []string{"hidden-", strings.Repeat("5e", 32)} {
		if strings.Contains(out+table+said, secret) {
			t.Errorf("a secret is shown:\n%s\n%s", out, table)
		}
	}
	if out, _, code := doctorBy(t, settings, "--timeout", "1ns"); code != 1 || !strings.Contains(out, "no result within 1ns") && !strings.Contains(out, "deadline exceeded") {
		t.Errorf("exit status %d with a timeout that is too short:\n%s", code, out)
	}
	settings["NETSIM_WORKERS"], settings["NETSIM_PARTITONS"] = "many", "4"
	for _, want := range []string{`NETSIM_WORKERS is "many"`, "NETSIM_PARTITONS is set", "2 of 2 checks failed"} {
		if out, said, code := doctorBy(t, settings); code != 1 || !strings.Contains(out+said, want) {
			t.Errorf("exit status %d, and the table of wrong settings lacks %q:\n%s%s", code, want, out, said)
		}
	}

	store, issuer := teststack.Objects(t), teststack.Issuer(t)
	healthy := map[string]string{
		"NETSIM_KAFKA": strings.Join(teststack.Broker(t), ","), "NETSIM_TOPIC_PREFIX": "doctor.", "NETSIM_POSTGRES": teststack.Postgres(t), "NETSIM_DATA_DEV": "true",
		"NETSIM_S3_ENDPOINT": store.Endpoint, "NETSIM_S3_REGION": store.Region, "NETSIM_S3_BUCKET": store.Bucket,
		"NETSIM_S3_ACCESS_KEY": store.AccessKey, "NETSIM_S3_SECRET_KEY": store.SecretKey,
		"NETSIM_OIDC_ISSUER": issuer.URL, "NETSIM_OIDC_JWKS_URL": issuer.JWKSURL, "NETSIM_ROLES": "projector,worker",
	}
	if out, said, code := doctorBy(t, healthy, "--timeout", "10m"); code != 0 || !strings.Contains(out, " 0 fail, 0 skipped") {
		t.Errorf("exit status %d before the first start:\n%s%s", code, out, said)
	}
}
