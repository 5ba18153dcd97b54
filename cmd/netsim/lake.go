package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"netsim/cmd/operate"
	"netsim/stream/lake"
)

type lakes struct {
	Status  lakeStatus  `cmd:"" default:"withargs" help:"Show how far the lake is, and its files (the default)."`
	Grant   grantLake   `cmd:"" help:"Let a role of PostgreSQL read the lake; create it if it is missing."`
	Attach  attachLake  `cmd:"" help:"Print the SQL with which DuckDB attaches the lake."`
	Sources lakeSources `cmd:"" help:"Print the tables and views, with their columns and comments, as sources of dbt."`
	Drop    dropLake    `cmd:"" help:"Delete the lake with its files; a process with the role lake makes it again from the log."`
}

type lakeStatus struct {
	JSON bool `help:"Print JSON instead of text."`
}

// Run shows the status.
func (l lakeStatus) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		s, err := t.Lake(ctx)
		if err != nil {
			return err
		}
		if l.JSON {
			return printList([]any{s})
		}
		writer := s.Writer
		if writer == "" {
			writer = "no process"
		}
		_, err = fmt.Printf("snapshot %d of %s, %d records behind; %d facts in %d files, %d bytes in %s; %d files wait to be deleted; written by %s\n",
			s.Snapshot, s.CommittedAt.UTC().Format(time.RFC3339), s.LagFacts, s.Facts, s.Files, s.Bytes, s.Path, s.Waiting, printable(writer))
		if err == nil && s.OtherLog != "" {
			err = errors.New(s.OtherLog)
		}
		return err
	})
}

type grantLake struct {
	Role         string `arg:"" help:"Name of the role."`
	PasswordFile string `help:"File with the password of the role; without it a new role has none." type:"existingfile" placeholder:"PATH"`
}

// Run grants the role what readers need.
func (g grantLake) Run(ctx context.Context) error {
	password, err := passwordIn(g.PasswordFile)
	if err != nil {
		return err
	}
	return withTools(ctx, func(t *operate.Tools) error {
		created, err := t.GrantLake(ctx, g.Role, password)
		if err != nil {
			return err
		}
		did := "can read the lake"
		if created {
			did = "was created and can read the lake"
		}
		_, err = fmt.Printf("the role %s %s; 'netsim lake attach --role %s' prints how\n", printable(g.Role), did, printable(g.Role))
		return err
	})
}

// passwordIn reads a password from a file, "" without a path.
func passwordIn(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	password := strings.TrimRight(string(text), "\r\n")
	if password == "" {
		return "", fmt.Errorf("the file %s is empty: it must have the password", path)
	}
	return password, nil
}

type attachLake struct {
	Role         string `help:"Role of PostgreSQL to attach as; default: that of the settings." placeholder:"NAME"`
	PasswordFile string `help:"File with the password of the role." type:"existingfile" placeholder:"PATH"`
	Secrets      bool   `help:"Print the password of --password-file and the keys of the object store in the settings; give other readers keys that can only read."`
}

// Validate implements kong.Validatable. The password of the service is never printed.
func (a attachLake) Validate() error {
	if a.Secrets != (a.PasswordFile != "") || a.Secrets && a.Role == "" {
		return errors.New("--secrets prints the password of a reader: name its --role and --password-file ('netsim lake grant' makes one)")
	}
	return nil
}

// Run prints the SQL.
func (a attachLake) Run(ctx context.Context) error {
	password, err := passwordIn(a.PasswordFile)
	if err != nil {
		return err
	}
	return withTools(ctx, func(t *operate.Tools) error {
		text, err := t.AttachLake(a.Role, password)
		if err == nil {
			_, err = fmt.Print(text)
		}
		return err
	})
}

type lakeSources struct{}

// Run prints the sources.
func (lakeSources) Run() error {
	_, err := fmt.Print(lake.Sources())
	return err
}

type dropLake struct {
	Yes bool `help:"Do not ask."`
}

// Run asks for confirmation and drops the lake.
func (d dropLake) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		if !d.Yes {
			fmt.Println("this deletes the lake with all its snapshots and files")
			if !confirmed(os.Stdin) {
				return errNotApplied
			}
		}
		err := t.DropLake(ctx)
		if err == nil {
			_, err = fmt.Println("the lake is deleted")
		}
		return err
	})
}
