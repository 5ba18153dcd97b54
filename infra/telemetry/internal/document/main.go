// Command document writes docs/metrics.md.
package main

import (
	"fmt"
	"os"

	"netsim/infra/telemetry"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: document FILE")
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], []byte(telemetry.Document()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
