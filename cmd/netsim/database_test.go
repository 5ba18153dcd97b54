package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPsqlByCommand: psql gets the arguments and, in its environment, the address and the
// password of the settings instead of those that the caller has. No argument has them.
func TestPsqlByCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeProgram(t, filepath.Join(dir, "psql"), `#!/bin/sh
printf '%s\n' "$PGHOST:$PGPORT/$PGDATABASE as $PGUSER with $PGPASSWORD, $PGAPPNAME" "$@"
`)
	run := func(path string) (string, error) {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "psql", "-Atc", "SELECT 1", "--help")
		cmd.Env = []string{
			"NETSIM_COMMAND_TEST=1", "PATH=" + path, "PGPASSWORD=another", "PGHOST=elsewhere", "PGAPPNAME=mine",
			"NETSIM_KAFKA=kafka:9092", "NETSIM_DATA_DEV=true", "NETSIM_POSTGRES=postgres://u:hidden@db:6432/n",
			"NETSIM_S3_ENDPOINT=http://s3", "NETSIM_S3_ACCESS_KEY=a", "NETSIM_S3_SECRET_KEY=s", "NETSIM_OIDC_ISSUER=http://i", "NETSIM_OIDC_JWKS_URL=http://i/keys",
		}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run(dir)
	_, said, _ := strings.Cut(out, "\n")
	if want := "db:6432/n as u with hidden, mine\n--no-psqlrc\n--set\nON_ERROR_STOP=1\n-Atc\nSELECT 1\n--help\n"; err != nil || said != want || !strings.HasPrefix(out, "netsim: not recorded in the log: ") {
		t.Errorf("psql got %s (%v), want %s", out, err, want)
	}
	if out, err := run(t.TempDir()); err == nil || !strings.Contains(out, "psql is not in PATH") || strings.Contains(out, "hidden") {
		t.Errorf("without psql: %v, %s", err, out)
	}
}
