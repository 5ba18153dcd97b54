// Command netsim is the service and its tools. The settings come from the
// environment (package settings). 'netsim --help' lists the commands.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"

	"netsim/cmd/client"
	"netsim/cmd/operate"
	"netsim/cmd/service"
	"netsim/cmd/settings"
	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/infra/telemetry"
)

// commands are those of the users of a service and those of its operators.
type commands struct {
	client.Commands `embed:"" group:"Use the service"`
	Operate         operating `embed:"" group:"Operate it"`
	Version         version   `cmd:"" help:"Print the version."`

	Completion kongcompletion.Completion `cmd:"" help:"Print what makes a shell complete command lines."`
}

// operating are the commands of operators.
type operating struct {
	Serve      serve       `cmd:"" help:"Run the service with the roles in NETSIM_ROLES."`
	Migrate    migrate     `cmd:"" help:"Create the missing topics, tables and bucket, and end."`
	Doctor     examine     `cmd:"" help:"Examine every component that the service depends on, and say what to do."`
	Token      token       `cmd:"" help:"Print a token of the development issuer."`
	ReadModel  readModel   `cmd:"" name:"readmodel" help:"Show, rebuild, compare and promote read models."`
	Streams    streams     `cmd:"" help:"Show streams and apply parked facts again."`
	Reactions  reactions   `cmd:"" help:"Show reactions and retry dead letters."`
	Jobs       jobsStatus  `cmd:"" help:"Show the jobs by kind and state."`
	Runs       runsStatus  `cmd:"" help:"Show the simulations that have not ended."`
	Events     eventTools  `cmd:"" help:"Export and follow the facts of the log, and show and repeat what is published."`
	Credit     credit      `cmd:"" help:"Grant credit to accounts."`
	Quotas     quotas      `cmd:"" help:"Show and set the limits of accounts."`
	Person     person      `cmd:"" help:"Remove the names of users."`
	Billing    billing     `cmd:"" help:"Set prices and export costs."`
	Engine     engine      `cmd:"" help:"Run simulations without the service."`
	Log        logging     `cmd:"" help:"Change how the event log is sealed."`
	Audit      auditing    `cmd:"" help:"Verify the log and the billing."`
	Lake       lakes       `cmd:"" help:"Show, share and drop the lake."`
	Objects    objectTools `cmd:"" help:"Compare the object store with the log."`
	Psql       psql        `cmd:"" passthrough:"" help:"Run psql on the database of the settings, without a password in its arguments."`
	Tables     tables      `cmd:"" help:"Dump and restore the tables that cannot be rebuilt from the log."`
	ACLs       acls        `cmd:"" name:"acls" help:"Print the least rights of each user of Kafka, as kafka-acls.sh takes them."`
	Upgrade    upgrade     `cmd:"" help:"Show which releases run, and finish an upgrade."`
	Operations operations  `cmd:"" help:"Show which commands of operators changed the deployment."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var c commands
	terminal := client.System()
	parser := kong.Must(&c, kong.Name("netsim"),
		kong.Description("Simulates collective workloads on modelled networks.\n\n"+client.ExitCodes),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(terminal), kong.Exit(exit))
	client.Complete(ctx, parser, terminal)
	parsed, err := parser.Parse(os.Args[1:])
	parser.FatalIfErrorf(err)
	if err := run(ctx, parsed); err != nil {
		fmt.Fprintln(os.Stderr, "netsim:", err)
		os.Exit(client.ExitCode(err)) //nolint:gocritic // the signal handler needs no clean-up
	}
}

// exit ends the process. Kong has a code of its own for wrong usage.
func exit(code int) {
	const usage = 80
	if code == usage {
		code = client.ExitUsage
	}
	os.Exit(code)
}

type serve struct{}

// Help implements kong.HelpProvider.
func (serve) Help() string {
	return "The settings are environment variables:\n\n" + settings.Help()
}

// Run serves until the process gets a signal.
func (serve) Run(ctx context.Context) error {
	c, err := settings.FromEnvironment()
	if err != nil {
		return err
	}
	log, stop, err := telemetry.NewQueuedLog(os.Stderr, c.LogFormat, c.LogLevel)
	if err != nil {
		return err
	}
	defer stop()
	return service.Run(ctx, c, log, func(service.Started) {
		debug.FreeOSMemory() // what only the start needed, such as the contract's documents
	})
}

type token struct {
	Service    bool          `help:"A service (machine-to-machine) token instead of a user's."`
	User       string        `help:"User id and name." placeholder:"NAME"`
	Account    string        `help:"Account id; '*' with --service sees the platform." placeholder:"ID"`
	Workspaces []string      `help:"Workspace ids, separated by commas; every workspace when absent." placeholder:"LIST"`
	Roles      []string      `name:"role" help:"A role, billing or operator; repeat it for several." enum:"billing,operator" placeholder:"ROLE"`
	TTL        time.Duration `name:"ttl" help:"How long it is valid." default:"1h"`
	Data       string        `help:"The data directory of netsim-dev." env:"NETSIM_DATA" default:".netsim"`
}

// Validate implements kong.Validatable.
func (t token) Validate() error {
	switch {
	case t.TTL <= 0:
		return errors.New("--ttl must be longer than 0s")
	case t.Account == "*" && !t.Service:
		return errors.New("--account '*' is for a service token: give --service too")
	}
	return nil
}

// Run prints the token.
func (t token) Run() error {
	text, err := devissuer.Mint(t.Data, devissuer.Options{
		Service: t.Service, User: t.User, Account: t.Account, Workspaces: t.Workspaces, Roles: t.Roles, TTL: t.TTL,
	}, time.Now())
	if err != nil {
		return err
	}
	_, err = fmt.Println(text)
	return err
}

type person struct {
	Forget forget `cmd:"" help:"Remove a person's name from the directory; the person's events and bills stay, under the id."`
}

type forget struct {
	User string `arg:"" help:"User id, as events and bills show it."`
}

// Run removes the name.
func (f forget) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		found, err := t.ForgetUser(ctx, f.User)
		if err == nil && !found {
			err = fmt.Errorf("the directory has no user %s", f.User)
		}
		return err
	})
}

type credit struct {
	Grant grant `cmd:"" help:"Grant credit to an account, once for each reference."`
}

type grant struct {
	Account   string `arg:"" help:"Account id."`
	Amount    string `arg:"" help:"Decimal amount."`
	Reference string `required:"" help:"Unique in the account; repeating it grants nothing."`
	Currency  string `default:"CREDIT" enum:"CREDIT,USD" help:"CREDIT or USD."`
}

// Run grants the credit.
func (g grant) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		granted, err := t.Grant(ctx, g.Account, events.CreditGranted{Amount: g.Amount, Currency: g.Currency, Reference: g.Reference})
		switch {
		case err != nil:
		case granted:
			_, err = fmt.Printf("granted %s %s to %s\n", g.Amount, g.Currency, g.Account)
		default:
			_, err = fmt.Printf("nothing was granted: %s already has a grant with reference %q\n", g.Account, g.Reference)
		}
		return err
	})
}

func withTools(ctx context.Context, use func(*operate.Tools) error) error {
	c, err := settings.FromEnvironment()
	if err != nil {
		return err
	}
	log, err := telemetry.NewLog(os.Stderr, c.LogFormat, c.LogLevel)
	if err != nil {
		return err
	}
	t, err := operate.OpenTools(ctx, c, log)
	if err != nil {
		return err
	}
	defer t.Close()
	return use(t)
}

type version struct{}

// Run prints the version.
func (version) Run() error {
	b := telemetry.ReadBuild()
	_, err := fmt.Printf("netsim %s (%s, %s)\n", b.Version, b.Commit, b.Go)
	return err
}
