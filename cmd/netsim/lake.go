package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"netsim/cmd/operate"
)

type lakes struct {
	Status lakeStatus `cmd:"" default:"withargs" help:"Show how far the lake is, and its files (the default)."`
	Grant  grantLake  `cmd:"" help:"Let a role of PostgreSQL read the lake; create it if it is missing."`
	Attach attachLake `cmd:"" help:"Print the SQL with which DuckDB attaches the lake."`
	Drop   dropLake   `cmd:"" help:"Delete the lake with its files; a process with the role lake makes it again from the log."`
}

type lakeStatus struct {
	JSON bool `help:"Print JSON instead of text."`
}

// Run shows the status.
func (l lakeStatus) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		s, err := t.LakeStatus(ctx)
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
		return err
	})
}

type grantLake struct {
	Role         string `arg:"" help:"Name of the role."`
	PasswordFile string `help:"File with the password of the role; without it a new role has none." type:"existingfile" placeholder:"PATH"`
}

// Run grants the role what readers need.
func (g grantLake) Run(ctx context.Context) error {
	password := ""
	if g.PasswordFile != "" {
		text, err := os.ReadFile(g.PasswordFile)
		if err != nil {
			return err
		}
		if password = strings.TrimRight(string(text), "\r\n"); password == "" {
			return fmt.Errorf("the file %s is empty: it must have the password", g.PasswordFile)
		}
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

type attachLake struct {
	Role    string `help:"Role of PostgreSQL to attach as; default: that of the settings." placeholder:"NAME"`
	Secrets bool   `help:"Print the keys and the password of the settings too."`
}

// Run prints the SQL.
func (a attachLake) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		text, err := t.AttachLake(a.Role, a.Secrets)
		if err == nil {
			_, err = fmt.Print(text)
		}
		return err
	})
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
