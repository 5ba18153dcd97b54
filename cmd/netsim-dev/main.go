// Command netsim-dev runs everything netsim needs on one machine, on loopback
// only: an embedded Kafka broker, a private PostgreSQL cluster, an S3 gateway
// and an OIDC issuer.
//
//	netsim-dev run             all servers, on disk, with the service as a child;
//	                           with --jars DIR on Apache Kafka
//	netsim-dev part NAME       one server alone, for tests (see part.go)
//	netsim-dev test            the tests of packages, with one set of servers for all
//
// It is a module of its own because these servers need some forty modules and a
// process-wide chdir (the S3 gateway's), which the service must not have. Its only
// interfaces to the service are the environment and the servers' protocols.
//
// It runs on Linux only: PR_SET_PDEATHSIG ends the children when netsim-dev dies.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

const usage = `usage:
  netsim-dev run                   run everything, with the service on NETSIM_HTTP
  netsim-dev part NAME --data DIR  run one part: broker, postgres, objects, issuer, kafka, or all
  netsim-dev test [PACKAGE ...]    test packages with one set of servers, and print what took longest
`

func main() {
	if err := command(os.Args[1:]); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "netsim-dev:", err)
		}
		os.Exit(1)
	}
}

func command(args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "run":
			return run(args[1:])
		case "part":
			return part(args[1:])
		case "test":
			return test(args[1:])
		case "metered":
			return metered(args[1:])
		}
	}
	fmt.Fprint(os.Stderr, usage)
	return flag.ErrHelp
}
