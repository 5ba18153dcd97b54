package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"netsim/cmd/operate"
	"netsim/cmd/settings"
)

type psql struct {
	Arguments []string `arg:"" optional:"" help:"Arguments of psql, such as -c 'SELECT 1'."`
}

// Run becomes psql, connected to the database of the settings. The password is in its
// environment, which only its user can read.
func (p psql) Run() error {
	c, err := settings.FromEnvironment()
	if err != nil {
		return err
	}
	path, err := exec.LookPath("psql")
	if err != nil {
		return errors.New("psql is not in PATH: install the client of PostgreSQL")
	}
	connect, err := operate.PsqlEnvironment(c.Postgres)
	if err != nil {
		return err
	}
	environment := slices.DeleteFunc(os.Environ(), func(own string) bool {
		name, _, _ := strings.Cut(own, "=")
		return slices.ContainsFunc(connect, func(set string) bool { return strings.HasPrefix(set, name+"=") })
	})
	return syscall.Exec(path, append([]string{"psql", "--no-psqlrc", "--set", "ON_ERROR_STOP=1"}, p.Arguments...), append(environment, connect...))
}

type tables struct {
	Dump    dumpTables    `cmd:"" help:"Write the tables that cannot be rebuilt from the log to a file."`
	Restore restoreTables `cmd:"" help:"Add the rows of a dump that the database does not have."`
}

type dumpTables struct {
	File string `arg:"" help:"The file. It is replaced when the dump is whole." type:"path"`
}

// Run dumps the tables.
func (d dumpTables) Run(ctx context.Context) error {
	c, err := settings.FromEnvironment()
	if err != nil {
		return err
	}
	rows, err := operate.DumpTables(ctx, c, d.File)
	if err == nil {
		_, err = fmt.Printf("%d rows in %s\n", rows, d.File)
	}
	return err
}

type restoreTables struct {
	File string `arg:"" help:"A file of 'netsim tables dump'." type:"existingfile"`
}

// Run restores the tables.
func (r restoreTables) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		added, err := t.RestoreTables(ctx, r.File)
		if err == nil {
			_, err = fmt.Printf("%d rows were added; those that the database had stay as they are\n", added)
		}
		return err
	})
}
