package main

import (
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An option that a command would ignore is refused before anything starts.
func TestOptionsThatAreRefused(t *testing.T) {
	t.Parallel()
	known := []string{"data", "listen", "ephemeral"} // flags of every part
	for name := range partFlags {
		known = append(known, name)
	}
	new(options).flags("broker").VisitAll(func(f *flag.Flag) {
		if !slices.Contains(known, f.Name) {
			t.Errorf("--%s is neither in partFlags nor a flag of every part", f.Name)
		}
	})
	for line, want := range map[string]string{
		"part objects --no-sync":                  "--no-sync is for broker, kafka, postgres, not for objects",
		"part issuer --no-sync":                   "--no-sync is for broker, kafka, postgres, not for issuer",
		"part postgres --memory":                  "--memory is for broker, not for postgres",
		"part broker --jars x":                    "--jars is for kafka, not for broker",
		"part objects --jars x":                   "--jars is for kafka, not for objects",
		"part broker --connections 9":             "--connections is for postgres, not for broker",
		"test --race some":                        `--race is "some": it must be none, shared or all`,
		"part broker --listeners x":               "--listeners is for kafka, not for broker",
		"part kafka --listeners x":                `"x" is not a listener such as TLS=SSL@127.0.0.1:9093`,
		"part postgres --properties x":            "--properties is for kafka, not for postgres",
		"part all --listen 127.0.0.1:9":           "--listen is for one part",
		"part broker --memory postgres":           `argument "postgres": one part at a time`,
		"part broker --listen 127.0.0.1:0 --data": "",
		"part none":                               "no such part",
		"run everything":                          `argument "everything": run takes options only`,
		"run --data x":                            "",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			args := strings.Fields(line)
			if args[0] == "part" && !strings.HasSuffix(line, "--data") {
				args = append(args[:2:2], append([]string{"--data", filepath.Join(t.TempDir(), "data")}, args[2:]...)...)
			}
			if err := command(args); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error = %v, want one with %q", err, want)
			}
		})
	}
}
