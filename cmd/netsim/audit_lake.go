package main

import (
	"context"
	"fmt"
	"os"
	"text/tabwriter"

	"netsim/cmd/operate"
	"netsim/cmd/settings"
)

type auditLake struct{}

// Run compares the lake with the log, and returns an error when they differ.
func (auditLake) Run(ctx context.Context) error {
	return withAuditor(ctx, false, func(a *operate.Auditor, _ settings.Offline) error {
		r, err := a.Lake(ctx)
		if err != nil {
			return err
		}
		out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(out, "PARTITION\tSAME FACTS\tDIFFERENT\tMISSING\tNOT IN THE LOG\tNOT IN THE LAKE YET")
		for _, p := range r.Partitions {
			fmt.Fprintf(out, "%s/%d\t%d\t%d\t%d\t%d\t%d\n", p.Family, p.Partition, p.Same, p.Different, p.Missing, p.Foreign, p.Pending)
		}
		if err := out.Flush(); err != nil {
			return err
		}
		if !a.ChecksSeals() {
			fmt.Println("seals were not checked: NETSIM_WRITER_KEYS has no key, so a forged record counts as a fact here, and is missing in the lake")
		}
		return report(r.Findings, agreed)
	})
}
