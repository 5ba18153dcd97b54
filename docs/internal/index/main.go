// Command index writes docs/README.md and docs/adr/README.md from the pages that they list.
//
// A page begins with its title. The first line after it, in italics, says for whom and
// what for the page is:
//
//	*For operators: what netsim needs, and the commands that deploy it.*
//
// A decision has a number in its title, and below it a line with its status and date.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run . ../..

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: index DOCS")
		os.Exit(2)
	}
	docs := os.Args[1]
	files, err := indexes(os.DirFS(docs))
	for name, text := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join(docs, name), []byte(text), 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
