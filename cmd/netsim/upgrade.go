package main

import (
	"context"
	"fmt"

	"netsim/cmd/operate"
)

type upgrade struct {
	Status upgradeStatus `cmd:"" help:"Show the level of the deployment, and which releases run."`
	Finish upgradeFinish `cmd:"" help:"Raise the level of the deployment to that of this release. From then on older releases are refused."`
}

type upgradeStatus struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// Run prints the level and the processes.
func (u upgradeStatus) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		s, err := t.Upgrade(ctx)
		if err != nil {
			return err
		}
		if u.JSON {
			return printJSON(s)
		}
		rows := make([][]string, len(s.Members))
		for i, m := range s.Members {
			release, process := m.Release, m.Process
			if process == "" {
				release, process = "without levels", "not known"
			}
			rows[i] = []string{process, release, number(m.Level), number(m.Sessions)}
		}
		_, err = fmt.Printf("the deployment is at level %d; this release knows levels up to %d\n", s.Level, s.Supported)
		if err == nil {
			err = printTable("no other process has database sessions", "process release level sessions", rows)
		}
		for _, m := range s.Superseded {
			fmt.Printf("the read model %s is superseded, and %d processes serve it\n", m.Schema, m.Processes)
		}
		return err
	})
}

type upgradeFinish struct{}

// Run raises the level.
func (upgradeFinish) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		before, err := t.FinishUpgrade(ctx)
		for _, m := range before.Superseded {
			fmt.Printf("the read model %s is superseded: 'netsim readmodel drop %[1]s' drops it\n", m.Schema)
		}
		switch {
		case err != nil:
			return err
		case before.Level == before.Supported:
			_, err = fmt.Printf("the deployment already is at level %d\n", before.Level)
		default:
			_, err = fmt.Printf("the deployment is at level %d now: releases that do not know this level are refused\n", before.Supported)
		}
		return err
	})
}
