// Command write writes Grafana's dashboard to the file in its argument.
package main

import (
	"fmt"
	"os"

	"netsim/deploy/observe"
)

func main() {
	text, err := observe.Dashboard()
	if err == nil {
		err = os.WriteFile(os.Args[1], text, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
