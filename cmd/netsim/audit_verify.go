package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"netsim/audit"
	"netsim/cmd/operate"
	"netsim/cmd/settings"
)

type auditVerify struct {
	Bundle  string `arg:"" optional:"" help:"A bundle; the log when absent."`
	Key     string `help:"The public key to verify with. When absent, the key of NETSIM_AUDIT_KEY for the log, and the bundle's own key for a bundle." placeholder:"VERIFIERKEY"`
	LogOnly bool   `help:"Do not compare with the read model of NETSIM_POSTGRES."`

	Archive string `help:"Verify the log in this archive, a directory or s3://bucket/prefix, and not the one of NETSIM_KAFKA." placeholder:"TARGET"`

	Note   []string `help:"A file with a checkpoint that you hold; the log or the bundle must contain it. May be repeated." type:"existingfile" sep:"none" placeholder:"FILE"`
	NoNote bool     `help:"You hold no checkpoint, and know that the end may have been cut off."`
	Strict bool     `help:"Find a loss of records that an operator has accepted, too."`

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
	case v.NoNote && v.hasNote():
		return errors.New("--no-note says that you hold no checkpoint: leave out --note and --from-checkpoint")
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
	return audit.Wanted{Verifier: v.Key, Account: v.Account, From: v.From, To: v.To, Notes: notes, Preliminary: v.Preliminary, Strict: v.Strict}
}

// hasNote reports whether the caller has a checkpoint that shows a loss of the end.
func (v auditVerify) hasNote() bool { return len(v.Note) > 0 || v.FromCheckpoint != "" }

// conclusion is what follows from a verification that found nothing.
func (v auditVerify) conclusion() string {
	switch {
	case v.hasNote():
		return agreed
	case v.NoNote:
		return "everything that is there agrees"
	}
	return "everything that is there agrees, but its end may have been cut off: a checkpoint that you hold shows that (--note FILE, or --no-note if you know)"
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
			if v.Strict {
				held = append(held, audit.Finding{At: l.Fact.Where, What: "an operator accepted a loss of records: " + l.Reason})
			}
		}
		return report(append(r.Findings, held...), v.conclusion())
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
		return report(damage, agreed)
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
	return report(r.Problems, v.conclusion())
}
