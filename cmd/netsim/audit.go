package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"netsim/audit"
	"netsim/cmd/operate"
	"netsim/cmd/settings"
	"netsim/cmd/table"
)

type auditing struct {
	Key        auditKey        `cmd:"" help:"Print the public key that verifies checkpoints and bundles, make a key, or change the key of the log."`
	Checkpoint auditCheckpoint `cmd:"" help:"Sign and publish the current content of the log."`
	Heads      auditHeads      `cmd:"" help:"Check the heads of a checkpoint in the object store, and copy them, so that a verification can join there."`
	Verify     auditVerify     `cmd:"" help:"Verify the whole log, or a bundle without any network."`
	Public     auditPublic     `cmd:"" help:"Compare the public topics with the facts of the log."`
	Lake       auditLake       `cmd:"" help:"Compare the lake with the facts of the log."`
	Replay     auditReplay     `cmd:"" help:"Rate every day again from the log alone and compare."`
	Bundle     auditBundle     `cmd:"" help:"Write one file that proves an account's costs."`
}

// errFound is returned after findings were printed.
var errFound = errors.New("the verification failed")

type auditKey struct {
	Make    string `help:"Make a key in this file, which must not exist." placeholder:"FILE"`
	Name    string `help:"The name of the new key; netsim when absent." placeholder:"NAME"`
	Succeed string `help:"Make the key of NETSIM_AUDIT_KEY the successor of the old key in this file: publish a checkpoint that the old key signs." placeholder:"FILE"`
}

// Validate implements kong.Validatable.
func (k auditKey) Validate() error {
	if k.Name != "" && k.Make == "" {
		return errors.New("--name is the name of a new key: give --make too")
	}
	if k.Succeed != "" && k.Make != "" {
		return errors.New("--succeed publishes the key of NETSIM_AUDIT_KEY: make that first, with a separate command")
	}
	return nil
}

// Run prints the public key, makes a key, or makes a key the successor of another.
func (k auditKey) Run(ctx context.Context) error {
	if k.Succeed != "" {
		return withTools(ctx, func(t *operate.Tools) error {
			verifier, name, err := t.Succeed(ctx, k.Succeed)
			if err == nil {
				_, err = fmt.Printf("the key of this log is %s, as checkpoint %s records\n", verifier, name)
			}
			return err
		})
	}
	if k.Make != "" {
		text, err := audit.NewKey(cmp.Or(k.Name, "netsim"))
		if err != nil {
			return err
		}
		file, err := os.OpenFile(k.Make, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		if _, err = io.WriteString(file, text); err != nil {
			return errors.Join(err, file.Close())
		}
		if err := file.Close(); err != nil {
			return err
		}
	}
	path := k.Make
	if path == "" {
		path = os.Getenv("NETSIM_AUDIT_KEY")
	}
	verifier, err := operate.Verifier("", path)
	if err != nil {
		return err
	}
	_, err = fmt.Println(verifier)
	return err
}

type auditCheckpoint struct {
	Name string `help:"Name of the checkpoint; a published name is not published again. The current time when absent." placeholder:"NAME"`
}

// Run publishes a log checkpoint.
func (c auditCheckpoint) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		name, err := t.Checkpoint(ctx, c.Name)
		if err == nil {
			_, err = fmt.Printf("published checkpoint %s\n", name)
		}
		return err
	})
}

type auditReplay struct {
	LogOnly bool `help:"Do not compare with the read model of NETSIM_POSTGRES."`
}

// Run replays billing, and returns an error when it finds a problem.
func (r auditReplay) Run(ctx context.Context) error {
	return withAuditor(ctx, r.LogOnly, func(a *operate.Auditor, _ settings.Offline) error {
		began := time.Now()
		out, err := a.Replay(ctx)
		if err != nil {
			return err
		}
		fmt.Printf("%d facts of %d accounts in %s\n", out.Facts, out.Accounts, time.Since(began).Round(time.Millisecond))
		rated(out.Rated)
		for _, table := range slices.Sorted(maps.Keys(out.Rows)) {
			fmt.Printf("%d rows of %s compared\n", out.Rows[table], table)
		}
		return report(out.Findings, agreed)
	})
}

func rated(r audit.Rated) {
	fmt.Printf("%d daily costs were rated again with the same result", r.Days)
	if r.Pending > 0 {
		fmt.Printf(", %d will be booked again", r.Pending)
	}
	if r.Unrated > 0 {
		fmt.Printf(", %d are not booked yet, such as %s", r.Unrated, r.First)
	}
	fmt.Println()
}

// agreed is the last line of a tool that found nothing.
const agreed = "everything agrees"

// report prints the findings and returns an error, or prints what to conclude when there
// are none.
func report[F fmt.Stringer](found []F, conclusion string) error {
	const most = 100
	for _, f := range found[:min(len(found), most)] {
		fmt.Println("FOUND", printable(f.String()))
	}
	if len(found) > 0 {
		return fmt.Errorf("%w: %d found", errFound, len(found))
	}
	_, err := fmt.Println(conclusion)
	return err
}

// printable replaces unprintable characters, which could control a terminal, by spaces.
// Any client that can write to the broker may have written the text.
func printable(text string) string { return table.Printable(text) }

type auditBundle struct {
	Account string `required:"" help:"Account id." placeholder:"ID"`
	From    string `required:"" help:"First day, YYYY-MM-DD."`
	To      string `required:"" help:"Last day, YYYY-MM-DD."`

	Preliminary bool `help:"Allow a last day that had not ended at the last checkpoint: audit verify then requires --preliminary too."`
}

// Run writes the bundle to standard output.
func (b auditBundle) Run(ctx context.Context) error {
	return withAuditor(ctx, true, func(a *operate.Auditor, _ settings.Offline) error {
		return a.Bundle(ctx, audit.Request{Account: b.Account, From: b.From, To: b.To, Preliminary: b.Preliminary}, os.Stdout)
	})
}

func withAuditor(ctx context.Context, logOnly bool, use func(*operate.Auditor, settings.Offline) error) error {
	c, err := settings.AuditFromEnvironment()
	if err != nil {
		return err
	}
	if logOnly {
		c.Postgres = ""
	}
	debug.SetGCPercent(400) // most of the data read is kept, so fewer garbage collections save time
	a, err := operate.OpenAudit(ctx, c)
	if err != nil {
		return err
	}
	defer a.Close()
	return use(a, c.Offline)
}
