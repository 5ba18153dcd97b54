package main

import (
	"context"
	"fmt"
	"os"
	"text/tabwriter"

	"netsim/cmd/operate"
	"netsim/cmd/settings"
)

type auditHeads struct {
	Checkpoint string `help:"Name of the checkpoint; the newest when absent." placeholder:"NAME"`
	Dir        string `help:"Copy the signed note, the index and the heads to this directory." type:"path" placeholder:"DIR"`
	Key        string `help:"The public key to verify with; the key of NETSIM_AUDIT_KEY when absent." placeholder:"VERIFIERKEY"`
}

// Run checks the heads of a checkpoint and prints a line for each partition.
func (h auditHeads) Run(ctx context.Context) error {
	return withAuditor(ctx, true, func(a *operate.Auditor, c settings.Offline) error {
		verifier, err := operate.Verifier(h.Key, c.Key)
		if err != nil {
			return err
		}
		checkpoint, parts, err := a.Heads(ctx, verifier, h.Checkpoint, h.Dir)
		if err != nil {
			return err
		}
		fmt.Printf("checkpoint %s of %s: the heads agree with it, index %s\n",
			printable(checkpoint.Name), checkpoint.Time.Format("2006-01-02 15:04:05"), checkpoint.Heads)
		out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(out, "PARTITION\tNEXT OFFSET\tFACTS\tSTREAMS\tSHA-256 OF THE HEADS")
		for _, p := range parts {
			fmt.Fprintf(out, "%s/%d\t%d\t%d\t%d\t%s\n", printable(string(p.Family)), p.Partition, p.Next, p.Facts, p.Heads.Streams, p.Heads.Sum)
		}
		return out.Flush()
	})
}
