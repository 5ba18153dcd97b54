package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"netsim/runs/execution"
	"netsim/runs/execution/host"
)

type engine struct {
	Calibrate calibrate  `cmd:"" help:"Fit latency and bandwidth to a log of nccl-tests, with the residual of each row."`
	Convert   convert    `cmd:"" help:"Convert a schedule of GOAL, or the workload of a simple submission, to Chakra traces."`
	Fabric    fabric     `cmd:"" help:"Convert the network of a configuration to an InfraGraph document, or the reverse."`
	Run       reproduce  `cmd:"" help:"Repeat a run from its receipt, without a service, and compare the results."`
	Serve     hostEngine `cmd:"" help:"Run orders that a service on another machine sends by HTTP."`
}

type reproduce struct {
	Receipt   string `arg:"" type:"existingfile" help:"The receipt.json of the run."`
	Files     string `required:"" type:"existingdir" help:"The directory with the input files that the receipt names: the files of the traceset, and chakra-mapping.txt."`
	Out       string `help:"A directory for the result files; without it they are only compared." placeholder:"DIR"`
	AnyEngine bool   `help:"Run even if another version of the engine made the receipt."`
}

// Run repeats the run, and returns an error when a file differs.
func (r reproduce) Run(ctx context.Context) error {
	text, err := os.ReadFile(r.Receipt)
	if err != nil {
		return err
	}
	receipt, err := execution.ReadReceipt(text)
	if err != nil {
		return err
	}
	equal, err := execution.Reproduce(ctx, receipt, r.Files, r.Out, r.AnyEngine)
	if err != nil {
		return err
	}
	_, err = fmt.Printf("reproduced: %d files equal\n", equal)
	return err
}

type hostEngine struct {
	Listen     string        `help:"Address." default:"127.0.0.1:9470" placeholder:"HOST:PORT"`
	Token      string        `help:"The secret that requests must bear." env:"NETSIM_ENGINE_TOKEN" placeholder:"SECRET"`
	TokenFile  string        `help:"A file with the secret, instead of --token." env:"NETSIM_ENGINE_TOKEN_FILE" placeholder:"FILE"`
	Data       string        `help:"A directory for the files of runs only; existing files in it are removed." placeholder:"DIR" required:""`
	Runs       int           `help:"Runs at a time; further orders get the answer that the engine is busy." default:"2"`
	Kept       int           `help:"Ended runs that wait to be fetched; above this number the oldest are removed." default:"100"`
	KeptFor    time.Duration `help:"How long ended runs wait to be fetched." default:"24h"`
	OrderBytes int64         `help:"Most bytes of an order." default:"64000000"`
	RunBytes   int64         `help:"Most bytes of a run's input and result files." default:"10000000000"`
	TotalBytes int64         `help:"Most bytes of the files of all runs." default:"100000000000"`
	Within     time.Duration `help:"Wall-clock time of a run; a run that takes longer fails." default:"24h"`
	MaxFlows   int           `help:"Most transfers in flight at once in a run, about 250 bytes of memory each; 0 means 16,777,216."`
}

// Validate implements kong.Validatable. Except for --max-flows it refuses zero, which
// would select a default in package host.
func (s hostEngine) Validate() error {
	if s.Runs < 1 || s.Kept < 1 || s.KeptFor <= 0 || s.OrderBytes < 1 || s.RunBytes < 1 || s.TotalBytes < 1 || s.Within <= 0 || s.MaxFlows < 0 {
		return errors.New("--runs, --kept, --kept-for, --order-bytes, --run-bytes, --total-bytes and --within must be above zero, and --max-flows must not be negative")
	}
	_, err := s.token()
	return err
}

// token returns the secret from the option or the file.
func (s hostEngine) token() (string, error) {
	switch {
	case s.TokenFile == "" && s.Token == "":
		return "", errors.New("NETSIM_ENGINE_TOKEN is not set: it must be the secret that requests bear, or NETSIM_ENGINE_TOKEN_FILE must name a file with it")
	case s.TokenFile == "":
		return s.Token, nil
	case s.Token != "":
		return "", errors.New("NETSIM_ENGINE_TOKEN and NETSIM_ENGINE_TOKEN_FILE are both set: set only one of them")
	}
	text, err := os.ReadFile(s.TokenFile)
	if err != nil {
		return "", fmt.Errorf("NETSIM_ENGINE_TOKEN_FILE: %w", err)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// Run prints the address and serves until the process gets a signal.
func (s hostEngine) Run(ctx context.Context) error {
	token, err := s.token()
	if err != nil {
		return err
	}
	h, err := host.New(host.Config{
		Token: token, Dir: s.Data, Runs: s.Runs, Kept: s.Kept, KeptFor: s.KeptFor, OrderBytes: s.OrderBytes,
		RunBytes: s.RunBytes, TotalBytes: s.TotalBytes, MaxFlows: s.MaxFlows, Within: s.Within, Log: slog.Default(),
	})
	if err != nil {
		return err
	}
	on, err := net.Listen("tcp", s.Listen)
	if err == nil {
		fmt.Printf("netsim engine listens on http://%s\n", on.Addr())
		err = h.Serve(ctx, on)
	}
	return errors.Join(err, h.Close())
}
