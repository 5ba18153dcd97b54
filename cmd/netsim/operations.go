package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"netsim/cmd/operate"
)

// changing is a command that may change the deployment. If changes reports true, the
// command is recorded in the log as an operation.
type changing interface{ changes() bool }

// unrecorded is a command that may change something but is not recorded, for a reason.
type unrecorded interface{ unrecorded() string }

// run runs the selected command, and records it if it changes the deployment.
func run(ctx context.Context, parsed *kong.Context) error {
	switch c := parsed.Selected().Target.Addr().Interface().(type) {
	case unrecorded:
		if reason := c.unrecorded(); reason != "" {
			notRecorded(reason)
		}
	case changing:
		if c.changes() {
			return withTools(ctx, func(t *operate.Tools) error {
				return t.Record(ctx, operationOf(parsed), notRecorded, func() error { return parsed.Run() })
			})
		}
	}
	return parsed.Run()
}

func notRecorded(reason string) { fmt.Fprintln(os.Stderr, "netsim: not recorded in the log:", reason) }

// operationOf returns the command and the arguments that were given. Of a path it has only
// the last element, because a folder can have a person's name.
func operationOf(parsed *kong.Context) operate.Operation {
	_, command, _ := strings.Cut(parsed.Selected().FullPath(), " ")
	o := operate.Operation{Command: command}
	for _, p := range parsed.Path {
		var v *kong.Value
		switch {
		case p.Flag != nil:
			v = p.Flag.Value
		case p.Positional != nil:
			v = p.Positional
		default:
			continue
		}
		text := fmt.Sprint(v.Target.Interface())
		if strings.HasSuffix(v.Tag.Type, "file") {
			text = filepath.Base(text)
		}
		o.Arguments = append(o.Arguments, v.Name+"="+text)
	}
	return o
}

// Every command that changes the deployment says so here. A rebuild does not: nothing reads
// what it makes before the promotion. If it were recorded, it could not be compared with the
// live read model while the service is stopped.
func (migrate) changes() bool         { return true }
func (r rebuild) changes() bool       { return r.AcceptLostTail != "" }
func (promote) changes() bool         { return true }
func (dropModel) changes() bool       { return true }
func (streamsRetry) changes() bool    { return true }
func (reactionsRetry) changes() bool  { return true }
func (republish) changes() bool       { return true }
func (grant) changes() bool           { return true }
func (setQuotas) changes() bool       { return true }
func (forget) changes() bool          { return true }
func (a applyRates) changes() bool    { return !a.DryRun }
func (sealLog) changes() bool         { return true }
func (a adoptLog) changes() bool      { return a.Reason != "" }
func (grantLake) changes() bool       { return true }
func (dropLake) changes() bool        { return true }
func (restoreTables) changes() bool   { return true }
func (k auditKey) changes() bool      { return k.Succeed != "" }
func (auditCheckpoint) changes() bool { return true }
func (upgradeFinish) changes() bool   { return true }

// These are for when the log cannot be written, and work without it.
func (psql) unrecorded() string       { return "psql shows and changes what its user asks for" }
func (restoreLog) unrecorded() string { return "the log is being restored" }
func (mirrorLog) unrecorded() string  { return "the log is a copy that must equal the other one" }
func (s sweepLog) unrecorded() string {
	if s.DryRun {
		return ""
	}
	return "an archive is swept without the log"
}

type operations struct {
	List operationsList `cmd:"" help:"List the commands with which operators changed the deployment, the newest first."`
}

type operationsList struct{ listing }

// Run prints the operations.
func (c operationsList) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		list, err := t.Acts(ctx, c.Limit)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(list)
		}
		var rows [][]string
		for _, o := range list.Items {
			outcome := string(o.Outcome)
			if outcome == "" {
				outcome = "no end"
			}
			rows = append(rows, []string{o.BeganAt.Format(time.RFC3339), o.Operator, o.Command, strings.Join(o.Arguments, " "), outcome})
		}
		if err := printTable("no operator has changed the deployment", "BEGAN OPERATOR COMMAND ARGUMENTS OUTCOME", rows); err != nil {
			return err
		}
		fmt.Print(rest(len(rows), list.Total))
		_, err = fmt.Println("your own id is", t.Operator())
		return err
	})
}
