package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// options are the options of a part.
type options struct {
	data   string // directory of all parts; each uses data/<its name>
	listen string // host:port; port 0 is a free port below the ephemeral range
	sync   bool   // fsync before acknowledging
	memory bool   // broker only: keep nothing on disk
	jars   string // kafka only: directory of Apache Kafka's jars

	listeners  string // kafka only: further listeners, NAME=PROTOCOL@host:port, separated by commas
	properties string // kafka only: file whose lines are added to server.properties

	connections int // postgres only: how many sessions at the same time

	replicas  bool   // postgres only: standbys can follow it
	standbyOf string // postgres only: the --data of the part that it follows

	ephemeral bool // delete the data at the end
}

// flags returns the flags of "part", which set o.
func (o *options) flags(part string) *flag.FlagSet {
	flags := flag.NewFlagSet("part "+part, flag.ContinueOnError)
	o.sync = true
	flags.StringVar(&o.data, "data", "", "directory for the data (created)")
	flags.StringVar(&o.listen, "listen", "127.0.0.1:0", "loopback address to listen on")
	flags.BoolFunc("no-sync", "do not fsync: faster, survives kill -9 but not a power cut", func(text string) error {
		no, err := strconv.ParseBool(text)
		o.sync = !no
		return err
	})
	flags.BoolVar(&o.memory, "memory", false, "broker: keep the log in memory")
	flags.StringVar(&o.jars, "jars", "", "kafka: directory of Apache Kafka's jars")
	flags.StringVar(&o.listeners, "listeners", "", "kafka: further listeners, such as TLS=SSL@127.0.0.1:9093, separated by commas")
	flags.StringVar(&o.properties, "properties", "", "kafka: file with further lines of server.properties")
	flags.IntVar(&o.connections, "connections", defaultConnections, "postgres: how many sessions at the same time")
	flags.BoolVar(&o.replicas, "replicas", false, "postgres: let standbys follow the server")
	flags.StringVar(&o.standbyOf, "standby-of", "", "postgres: follow the server of another part, which runs with --replicas and has its data in this directory")
	flags.BoolVar(&o.ephemeral, "ephemeral", false, "delete the data directory at the end")
	return flags
}

// endpoint is what a client of a part needs to know. Empty members are left out.
type endpoint struct {
	Addr      string `json:"addr"`
	URL       string `json:"url,omitempty"`
	PID       int    `json:"pid"`            // the server's process: this one or a child
	Data      string `json:"data,omitempty"` // directory of its files, if not in the data directory
	Region    string `json:"region,omitempty"`
	AccessKey string `json:"accessKey,omitempty"`
	SecretKey string `json:"secretKey,omitempty"`
	JWKSURL   string `json:"jwksUrl,omitempty"`
	Issuer    string `json:"issuer,omitempty"`
	Audience  string `json:"audience,omitempty"`
}

// server is a running part.
type server struct {
	endpoint endpoint
	stop     func() error // ends the server in order; called once
	ended    <-chan error // receives an error when the server ends by itself; nil if it cannot
}

// part runs one part, or all of them. When they are ready, it prints one JSON line
// on stdout that maps each part's name to its endpoint. It ends them on SIGTERM or
// SIGINT, or when stdin closes: the parent has the other end of stdin, so the parts
// end however the parent dies.
func part(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("which part?\n%s", usage)
	}
	var o options
	flags := o.flags(args[0])
	if err := flags.Parse(args[1:]); err != nil {
		return flag.ErrHelp
	}
	names := []string{args[0]}
	if args[0] == "all" {
		names = slices.Clone(allParts)
		if o.jars != "" {
			names[0] = "kafka"
		}
	}
	if err := checkPartFlags(flags, args[0], names); err != nil {
		return err
	}
	var err error
	if o.data == "" {
		return errors.New("--data is required")
	}
	if o.data, err = filepath.Abs(o.data); err != nil {
		return err
	}
	if err := makeDir(o.data); err != nil {
		return err
	}
	if o.ephemeral {
		defer deleteData(o.data)
	}

	// Standard output is reserved for the JSON line; libraries print to stderr.
	stdout := os.Stdout
	os.Stdout = os.Stderr

	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		end <- syscall.SIGTERM
	}()

	s, err := startParts(o, names...)
	if err != nil {
		return err
	}
	line, err := json.Marshal(s.endpoints())
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s\n", line)

	select {
	case <-end:
		return s.stop()
	case err := <-s.ended:
		return errors.Join(err, s.stop())
	}
}

// partFlags are the flags that only some parts honour.
var partFlags = map[string][]string{
	"memory":     {"broker"},
	"jars":       {"kafka"},
	"listeners":  {"kafka"},
	"properties": {"kafka"},
	"no-sync":    {"broker", "kafka", "postgres"},

	"connections": {"postgres"},
	"replicas":    {"postgres"},
	"standby-of":  {"postgres"},
}

// checkPartFlags returns an error for a flag or an argument that the part would
// ignore.
func checkPartFlags(flags *flag.FlagSet, part string, names []string) (err error) {
	if flags.NArg() > 0 {
		return fmt.Errorf("argument %q: one part at a time, followed by options only", flags.Arg(0))
	}
	flags.Visit(func(f *flag.Flag) {
		parts, limited := partFlags[f.Name]
		if limited && !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(parts, name) }) {
			err = fmt.Errorf("--%s is for %s, not for %s", f.Name, strings.Join(parts, ", "), part)
		}
		if f.Name == "listen" && len(names) > 1 {
			err = errors.New("--listen is for one part: several parts need an address each")
		}
	})
	return err
}
