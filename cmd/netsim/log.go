package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"netsim/cmd/operate"
	"netsim/cmd/settings"
	"netsim/stream/archive"
)

type logging struct {
	Seal    sealLog    `cmd:"" help:"Demand a seal on all further records, and retire the writer keys that were first in NETSIM_WRITER_KEYS before the current one."`
	Archive archiveLog `cmd:"" help:"Copy the log to signed files. Repeating the command adds what is new."`
	Sweep   sweepLog   `cmd:"" help:"Remove files of an archive that no note names: what archivers left that were killed, or that lost a segment to another one."`
	Restore restoreLog `cmd:"" help:"Append the log in an archive to the empty cluster of NETSIM_KAFKA. The same command continues an interrupted restore."`
	Mirror  mirrorLog  `cmd:"" help:"Append the log of another cluster to the empty one of NETSIM_KAFKA. Repeating the command adds what is new."`
	Adopt   adoptLog   `cmd:"" help:"Compare the log with the one from which the read model was built, and go on with it after a restore or a mirror."`
}

type sealLog struct{}

// Run demands seals.
func (sealLog) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		sealed, err := t.SealLog(ctx)
		if err == nil {
			_, err = fmt.Printf("%d partitions demand the seal of this key from now on; the others already did\n", sealed)
		}
		return err
	})
}

type archiveLog struct {
	To     string        `required:"" placeholder:"TARGET" help:"A directory, or s3://bucket/prefix in the object store of the settings."`
	Follow bool          `help:"Go on until the process gets a signal."`
	Every  time.Duration `default:"10s" placeholder:"DURATION" help:"With --follow, the pause between two runs."`
	Trust  []string      `placeholder:"VERIFIERKEY" help:"Continue an archive that this key has signed, after another key has succeeded it."`
}

// Validate implements kong.Validatable.
func (a archiveLog) Validate() error {
	if a.Every < time.Millisecond {
		return errors.New("--every must be at least 1ms")
	}
	return nil
}

// Run archives the log.
func (a archiveLog) Run(ctx context.Context) error {
	c, err := settings.ArchiveFromEnvironment()
	if err != nil {
		return err
	}
	every := time.Duration(0)
	if a.Follow {
		every = a.Every
	}
	segments := int64(-1)
	return operate.ArchiveLog(ctx, c, a.To, a.Trust, every, func(r archive.Report) {
		switch {
		case r.Err != nil && a.Follow && ctx.Err() == nil:
			fmt.Printf("%s the log could not be archived: %v\n", time.Now().UTC().Format(time.RFC3339), r.Err)
		case r.Err == nil && r.Segments != segments:
			segments = r.Segments
			fmt.Printf("%s archived up to segment %d: %d records and %d bytes by this process\n", time.Now().UTC().Format(time.RFC3339), r.Segments, r.Records, r.Bytes)
		}
	})
}

type sweepLog struct {
	From   string `arg:"" help:"The archive: a directory, or s3://bucket/prefix in the object store of the settings."`
	Key    string `help:"The public key that signed the archive. When absent, the key of NETSIM_AUDIT_KEY." placeholder:"VERIFIERKEY"`
	DryRun bool   `help:"Only print what would be removed."`
}

// Run sweeps the archive.
func (s sweepLog) Run(ctx context.Context) error {
	c, err := settings.OfflineFromEnvironment()
	if err != nil {
		return err
	}
	verifier, err := operate.Verifier(s.Key, c.Key)
	if err != nil {
		return err
	}
	swept, err := operate.SweepArchive(ctx, c, s.From, verifier, !s.DryRun)
	done := "removed"
	if s.DryRun {
		done = "would be removed"
	}
	for _, name := range swept.Garbage { // also those before an error
		fmt.Printf("%s: %s\n", name, done)
	}
	if err != nil {
		return err
	}
	for _, name := range swept.Open {
		fmt.Printf("%s: kept, its segment has no note yet\n", name)
	}
	_, err = fmt.Printf("%d files %s, %d kept\n", len(swept.Garbage), done, len(swept.Open))
	return err
}

type restoreLog struct {
	From string `arg:"" help:"The archive: a directory, or s3://bucket/prefix in the object store of the settings."`
	Key  string `help:"The public key that signed the archive. When absent, the key of NETSIM_AUDIT_KEY." placeholder:"VERIFIERKEY"`
}

// Run restores the log.
func (r restoreLog) Run(ctx context.Context) error {
	c, err := settings.ArchiveFromEnvironment()
	if err != nil {
		return err
	}
	verifier, err := operate.Verifier(r.Key, c.Key)
	if err != nil {
		return err
	}
	began := time.Now()
	progress := appending{said: began}
	copied, err := operate.RestoreLog(ctx, c, r.From, verifier, progress.report)
	if err == nil {
		err = compared(copied, progress.records, time.Since(began))
	}
	return err
}

type mirrorLog struct {
	From   string        `arg:"" help:"Brokers of the other cluster, host:port, separated by commas."`
	Follow bool          `help:"Go on until the process gets a signal."`
	Every  time.Duration `default:"1s" placeholder:"DURATION" help:"With --follow, the pause between two runs."`
	Finish bool          `help:"Compare both logs, and make the copy a log that the service accepts. No process may write to the other log."`
}

// Validate implements kong.Validatable.
func (m mirrorLog) Validate() error {
	switch {
	case m.Follow && m.Finish:
		return errors.New("--finish ends the copy: end the command with --follow first")
	case m.Every < time.Millisecond:
		return errors.New("--every must be at least 1ms")
	}
	return nil
}

// Run mirrors the log.
func (m mirrorLog) Run(ctx context.Context) error {
	c, err := settings.ArchiveFromEnvironment()
	if err != nil {
		return err
	}
	brokers := strings.Split(m.From, ",")
	for {
		began := time.Now()
		progress := appending{said: began}
		copied, err := operate.MirrorLog(ctx, c, brokers, m.Finish, progress.report)
		switch {
		case m.Follow && ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case m.Finish:
			return compared(copied, progress.records, time.Since(began))
		case progress.records > 0 || !m.Follow:
			fmt.Printf("%d records were appended in %s\n", progress.records, time.Since(began).Round(time.Millisecond))
		}
		if !m.Follow {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(m.Every):
		}
	}
}

// appending prints progress at most every five seconds. It is safe for concurrent use.
type appending struct {
	mu      sync.Mutex
	said    time.Time
	records int64
}

func (a *appending) report(records int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.records = max(a.records, records)
	if time.Since(a.said) >= 5*time.Second {
		a.said = time.Now()
		fmt.Printf("%d records were appended\n", a.records)
	}
}

// compared prints the partitions of a copy and the digest of all.
func compared(copied []archive.Copied, appended int64, took time.Duration) error {
	all, records := sha256.New(), int64(0)
	for _, p := range copied {
		if p.Records > 0 {
			fmt.Printf("%s/%d: %d records, digest %x\n", p.Family, p.Partition, p.Records, p.Digest[:8])
		}
		records += p.Records
		all.Write(p.Digest[:])
	}
	_, err := fmt.Printf("%d records were appended in %s; all %d were read back and are the same, digest %x\n",
		appended, took.Round(time.Millisecond), records, all.Sum(nil)[:8])
	return err
}

type adoptLog struct {
	Reason string `help:"Go on with this log. The log records the reason. Without it the command only compares." placeholder:"REASON"`
}

// Run compares the log with the read model, and adopts it.
func (a adoptLog) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		found, err := t.AdoptLog(ctx, a.Reason)
		if err != nil {
			return err
		}
		if found.Move == nil {
			fmt.Println("the log is the one that the read model and the log checkpoints have seen, or records how it came from there")
		} else {
			fmt.Printf("the log has moved from cluster %s to cluster %s\n", found.Move.FromCluster, found.Move.Cluster)
		}
		for _, l := range found.Lost {
			fmt.Println("LOST", printable(l.Found))
		}
		const most = 1000
		for _, e := range found.Events[:min(len(found.Events), most)] {
			fmt.Printf("LOST %s: events %d to %d\n", printable(e.Stream), e.From, e.To)
		}
		if len(found.Events) > most {
			fmt.Printf("and events of %d other streams\n", len(found.Events)-most)
		}
		switch {
		case found.Adopted:
			_, err = fmt.Println("the service can be started")
		case a.Reason != "":
			_, err = fmt.Println("the move is recorded; 'netsim readmodel rebuild next --once --accept-lost-tail REASON' and 'netsim readmodel promote next' go on without what is lost")
		case found.Move != nil:
			_, err = fmt.Println("'netsim log adopt --reason REASON' goes on with this log")
		}
		return err
	})
}
