package main

import (
	"context"
	"fmt"
	"os"
	"text/tabwriter"

	"netsim/cmd/operate"
	"netsim/cmd/settings"
)

type auditPublic struct{}

// Run compares the public topics with the log, and returns an error when they differ.
func (auditPublic) Run(ctx context.Context) error {
	return withAuditor(ctx, true, func(a *operate.Auditor, _ settings.Offline) error {
		r, err := a.Public(ctx)
		if err != nil {
			return err
		}
		out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(out, "TOPIC\tSAME FACTS\tEXPIRED\tNOT PUBLISHED YET")
		for _, f := range r.Families {
			fmt.Fprintf(out, "%s\t%d\t%d\t%d\n", printable(f.Topic), f.Same, f.Expired, f.Pending)
		}
		if err := out.Flush(); err != nil {
			return err
		}
		if !a.ChecksSeals() {
			fmt.Println("seals were not checked: NETSIM_WRITER_KEYS has no key, so a forged record counts as a fact here, and is missing in the public topics")
		}
		return report(r.Findings, agreed)
	})
}
