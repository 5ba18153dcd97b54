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
	"strings"
	"time"
	"unicode"

	"netsim/audit"
	"netsim/cmd/operate"
	"netsim/cmd/settings"
)

type auditing struct {
	Key        auditKey        `cmd:"" help:"Print the public key that verifies checkpoints and bundles, make a key, or change the key of the log."`
	Checkpoint auditCheckpoint `cmd:"" help:"Sign and publish the current content of the log."`
	Heads      auditHeads      `cmd:"" help:"Check the heads of a checkpoint in the object store, and copy them, so that a verification can join there."`
	Verify     auditVerify     `cmd:"" help:"Verify the whole log, or a bundle without any network."`
	Public     auditPublic     `cmd:"" help:"Compare the public topics with the facts of the log."`
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

type auditVerify struct {
	Bundle  string `arg:"" optional:"" help:"A bundle; the log when absent."`
	Key     string `help:"The public key to verify with. When absent, the key of NETSIM_AUDIT_KEY for the log, and the bundle's own key for a bundle." placeholder:"VERIFIERKEY"`
	LogOnly bool   `help:"Do not compare with the read model of NETSIM_POSTGRES."`

	Archive string `help:"Verify the log in this archive, a directory or s3://bucket/prefix, and not the one of NETSIM_KAFKA." placeholder:"TARGET"`

	Note []string `help:"A file with a checkpoint that you hold; the log or the bundle must contain it. May be repeated." type:"existingfile" sep:"none" placeholder:"FILE"`

	FromCheckpoint string `help:"A file with a checkpoint that you hold: judge the log from there on, and trust it before." type:"existingfile" placeholder:"FILE"`
	Heads          string `help:"The directory with the heads of that checkpoint, as audit heads writes it; the object store of NETSIM_S3_ENDPOINT when absent." type:"existingdir" placeholder:"DIR"`

	Account     string `help:"The account that the bundle must belong to." placeholder:"ID"`
	From        string `help:"First day, YYYY-MM-DD, that the bundle must cover." placeholder:"DATE"`
	To          string `help:"Last day, YYYY-MM-DD, that the bundle must cover." placeholder:"DATE"`
	Preliminary bool   `help:"Accept a bundle whose period had not ended when it was made."`
}

// Validate implements kong.Validatable.
func (v auditVerify) Validate() error {
	ofBundle := v.Account != "" || v.From != "" || v.To != "" || v.Preliminary
	switch {
	case v.Bundle == "" && ofBundle:
		return errors.New("--account, --from, --to and --preliminary are about a bundle: name its file")
	case v.Bundle != "" && v.FromCheckpoint != "":
		return errors.New("--from-checkpoint is about the log: a bundle is always verified whole")
	case v.Heads != "" && v.FromCheckpoint == "":
		return errors.New("--heads are those of a checkpoint: name it with --from-checkpoint")
	case v.Bundle != "" && v.Archive != "":
		return errors.New("--archive is about the log: a bundle needs none")
	case v.Bundle != "" && v.LogOnly:
		return errors.New("--log-only is about the log: bundles are never compared with a read model")
	case v.Bundle != "":
		wanted := v.wanted(nil)
		return wanted.Check()
	}
	return nil
}

func (v auditVerify) wanted(notes []string) audit.Wanted {
	return audit.Wanted{Verifier: v.Key, Account: v.Account, From: v.From, To: v.To, Notes: notes, Preliminary: v.Preliminary}
}

// Run verifies the log or a bundle, and returns an error when it finds a problem.
func (v auditVerify) Run(ctx context.Context) error {
	if v.Bundle != "" {
		return v.bundle()
	}
	return v.withAuditor(ctx, func(a *operate.Auditor, c settings.Offline) error {
		verifier, err := operate.Verifier(v.Key, c.Key)
		if err != nil {
			return err
		}
		began := time.Now()
		r, err := v.log(ctx, a, verifier)
		if err != nil {
			return err
		}
		notes, err := v.notes()
		if err != nil {
			return err
		}
		held, err := a.Held(ctx, verifier, notes)
		if err != nil {
			return err
		}
		dead, err := a.DeadLetters(ctx)
		if err != nil {
			return err
		}
		fmt.Printf("%d records in %s: %d facts of %d streams, %d of them before the last of %d checkpoints\n",
			r.Records, time.Since(began).Round(time.Millisecond), r.Facts, r.Streams, r.Covered, r.Checkpoints)
		if r.Joined != "" {
			fmt.Printf("%d of these records are before checkpoint %s: they were not read, their heads are those that it signs\n", r.Before, printable(r.Joined))
		}
		fmt.Printf("%d billing chains, root %s\n", r.Chains, r.Root)
		if !a.ChecksSeals() {
			fmt.Println("seals were not checked: NETSIM_WRITER_KEYS has no key, so a forged record counts as a fact here and differs from the checkpoints")
		}
		for _, verdict := range slices.Sorted(maps.Keys(r.Rejected)) {
			fmt.Printf("%d records are not facts: %s\n", r.Rejected[verdict], verdict)
		}
		for _, eventType := range slices.Sorted(maps.Keys(r.Unreadable)) {
			fmt.Printf("%d facts cannot be read, their streams are parked: %s\n", r.Unreadable[eventType], printable(eventType))
		}
		fmt.Printf("%d dead letters of reactions\n", dead)
		for _, l := range r.Losses {
			fmt.Printf("%s: an operator accepted that the log had lost records: %s\n", l.Fact.Where, printable(l.Reason))
			for _, lost := range l.Lost {
				fmt.Printf("  %s/%d, seen up to offset %d: %s\n", printable(lost.Family), lost.Partition, lost.Seen, printable(lost.Found))
			}
		}
		return report(append(r.Findings, held...))
	})
}

// withAuditor runs use with an auditor of the log, or of an archive whose files are those
// that were signed.
func (v auditVerify) withAuditor(ctx context.Context, use func(*operate.Auditor, settings.Offline) error) error {
	if v.Archive == "" {
		return withAuditor(ctx, v.LogOnly, use)
	}
	c, err := settings.OfflineFromEnvironment()
	if err != nil {
		return err
	}
	verifier, err := operate.Verifier(v.Key, c.Key)
	if err != nil {
		return err
	}
	debug.SetGCPercent(400)
	a, damage, err := operate.OpenArchiveAudit(ctx, c, v.Archive, []string{verifier})
	if err != nil {
		return err
	}
	if len(damage) > 0 {
		return report(damage)
	}
	defer a.Close()
	return use(a, c)
}

// log verifies the log, as a whole or from a checkpoint on.
func (v auditVerify) log(ctx context.Context, a *operate.Auditor, verifier string) (audit.Report, error) {
	if v.FromCheckpoint == "" {
		return a.Verify(ctx, verifier)
	}
	note, err := os.ReadFile(v.FromCheckpoint)
	if err != nil {
		return audit.Report{}, err
	}
	return a.VerifyFrom(ctx, verifier, string(note), v.Heads)
}

// notes reads the log checkpoints that the auditor holds.
func (v auditVerify) notes() (notes []string, err error) {
	for _, path := range v.Note {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		notes = append(notes, string(text))
	}
	return notes, nil
}

func (v auditVerify) bundle() error {
	file, err := os.Open(v.Bundle)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // the file was only read
	notes, err := v.notes()
	if err != nil {
		return err
	}
	r, err := audit.VerifyBundle(file, v.wanted(notes))
	if err != nil {
		return err
	}
	fmt.Printf("%s from %s to %s, coveredUntil %s: %d lines, %d events, %d costs, %d checkpoints\n",
		printable(r.Account), printable(r.From), printable(r.To), printable(r.Covered), r.Lines, r.Events, r.Costs, r.Checkpoints)
	for _, c := range r.Chains {
		fmt.Printf("chain %s: %d events\n", printable(c.Stream), c.Head.Sequence)
	}
	if r.Losses > 0 {
		fmt.Printf("the checkpoints contain %d losses of the log that operators accepted\n", r.Losses)
	}
	for _, total := range r.Totals {
		fmt.Println("total", printable(total))
	}
	rated(r.Rated)
	if v.Key == "" {
		fmt.Printf("the signatures were verified with the bundle's own key, %s: compare it with the key that you know\n", printable(r.Verifier))
	}
	return report(r.Problems)
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
		return report(out.Findings)
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

// report prints the findings, and returns an error when there are any.
func report[F fmt.Stringer](found []F) error {
	const most = 100
	for _, f := range found[:min(len(found), most)] {
		fmt.Println("FOUND", printable(f.String()))
	}
	if len(found) > 0 {
		return fmt.Errorf("%w: %d found", errFound, len(found))
	}
	_, err := fmt.Println("everything agrees")
	return err
}

// printable replaces unprintable characters, which could control a terminal, by spaces.
// Any client that can write to the broker may have written the text.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}

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
