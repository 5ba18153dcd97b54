package main

import (
	"context"
	"fmt"

	"netsim/cmd/operate"
)

type objectTools struct {
	Missing missingObjects `cmd:"" help:"List the objects that the log refers to and that the object store does not have."`
}

type missingObjects struct {
	JSON bool `help:"Print JSON instead of text."`
}

// listedObjects bounds how many missing objects are kept for JSON.
const listedObjects = 100_000

// Help implements kong.HelpProvider.
func (missingObjects) Help() string {
	return "It reads the live read model and asks the object store for each object; it changes nothing. " +
		"An object with another size than the log says counts as missing. The exit status is 1 if an object is missing."
}

// Run lists the missing objects.
func (m missingObjects) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		listed := []operate.MissingObject{}
		r, err := t.MissingObjects(ctx, func(o operate.MissingObject) error {
			switch {
			case !m.JSON && o.Found < 0:
				fmt.Printf("MISSING %s: %s of %s, %d bytes\n", printable(o.Key), o.What, o.Owner, o.Size)
			case !m.JSON:
				fmt.Printf("WRONG SIZE %s: %s of %s, it has %d bytes, the log says %d\n", printable(o.Key), o.What, o.Owner, o.Found, o.Size)
			case len(listed) < listedObjects:
				listed = append(listed, o)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if m.JSON {
			err = printJSON(struct {
				operate.ObjectsReport
				Objects []operate.MissingObject `json:"objects"` // at most 100,000
			}{r, listed})
		} else {
			_, err = fmt.Printf("%d objects with %d bytes are referred to, %d are missing\n", r.Referenced, r.Bytes, r.Missing)
		}
		if err == nil && r.Missing > 0 {
			err = fmt.Errorf("%d of %d objects are missing", r.Missing, r.Referenced)
		}
		return err
	})
}
