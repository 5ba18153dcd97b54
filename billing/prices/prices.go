// Package prices reads a deployment's price list and writes it to the log: the
// rates to the platform's stream, the opening credit to the accounts. However often
// the service starts, each row and each grant is written once, because the command
// id derives from the row, or from the grant's reference.
package prices

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/rating"
)

//go:embed default.yaml
var standard []byte

// List is a price list.
type List struct {
	Rates         []events.RateSet // without RateID and Platform
	OpeningCredit Opening
	Postpaid      []string // accounts that may run without credit
}

// Opening is the credit that accounts begin with.
type Opening struct {
	Amount   string // decimal; "" for none
	Currency string
	Accounts []string // ids, or DefaultAccount
}

// DefaultAccount is the name, in a list, of the deployment's own account.
const DefaultAccount = "default"

// Default returns the list of completions 7.3, with 100000 CREDIT for the
// deployment's own account.
func Default() (List, error) { return Read(standard) }

// file is the format of a list. Its rates have the members of the RateSet event,
// without those that the service fills in.
type file struct {
	Rates []struct {
		AccountID     string `yaml:"accountId"`
		RateName      string `yaml:"rateName"`
		RateType      string `yaml:"rateType"`
		Amount        string `yaml:"amount"`
		Currency      string `yaml:"currency"`
		Period        string `yaml:"period"`
		MinimumPeriod string `yaml:"minimumPeriod"`
		TierStart     int64  `yaml:"tierStart"`
		TierEnd       int64  `yaml:"tierEnd"`
		PackageSize   int64  `yaml:"packageSize"`
		UnitName      string `yaml:"unitName"`
		UnitSize      string `yaml:"unitSize"`
		Note          string `yaml:"note"`
		StartDate     string `yaml:"startDate"`
		EndDate       string `yaml:"endDate"`
	} `yaml:"rates"`
	OpeningCredit struct {
		Amount   string   `yaml:"amount"`
		Currency string   `yaml:"currency"`
		Accounts []string `yaml:"accounts"`
	} `yaml:"openingCredit"`
	Postpaid []string `yaml:"postpaid"`
}

// Read parses and checks a list in YAML or JSON.
func Read(text []byte) (List, error) {
	var f file
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&f); err != nil {
		return List{}, fmt.Errorf("read the price list: %w", err)
	}
	list := List{OpeningCredit: Opening(f.OpeningCredit), Postpaid: f.Postpaid}
	for i, r := range f.Rates {
		row := events.RateSet{
			AccountID: r.AccountID, RateName: r.RateName, RateType: r.RateType, RateTypeRaw: r.RateType,
			Amount: r.Amount, Currency: r.Currency, Period: r.Period, MinimumPeriod: r.MinimumPeriod,
			TierStart: r.TierStart, TierEnd: r.TierEnd, PackageSize: r.PackageSize,
			UnitName: r.UnitName, UnitSize: r.UnitSize, Note: r.Note, StartDate: r.StartDate, EndDate: r.EndDate,
		}
		if err := commands.CheckRate(row); err != nil {
			return List{}, fmt.Errorf("price list: row %d: %w", i+1, err)
		}
		list.Rates = append(list.Rates, row)
	}
	if err := covered(list.Rates); err != nil {
		return List{}, fmt.Errorf("price list: %w", err)
	}
	if err := list.OpeningCredit.check(); err != nil {
		return List{}, fmt.Errorf("price list: opening credit: %w", err)
	}
	return list, nil
}

func (o Opening) check() error {
	if o.Amount == "" {
		return nil
	}
	return rating.CheckCredit(o.Amount, o.Currency)
}

// Load writes the opening credit to the log, and the rates for everything that
// has no price yet. The platform is the deployment's name, the account its own.
// Load returns a refusal for each row that would change a price, because only a
// Plan may do that.
func (l List) Load(ctx context.Context, h *handle.Handler, platform, account string) (refused []error, err error) {
	stream, list := commands.PlatformStream(platform), l.digest()
	for _, row := range l.Rates {
		row.Platform = platform
		text, err := json.Marshal(row)
		if err != nil {
			return nil, fmt.Errorf("load rate %s: %w", row.RateName, err)
		}
		from := handle.System("rate", string(text))
		from.CorrelationID = list
		_, err = handle.Command(ctx, h, handle.Target{Stream: stream, PartitionKey: stream}, from, commands.SetRate{Rate: row, List: list})
		switch {
		case fault.Is(err, fault.Conflict):
			refused = append(refused, err)
		case err != nil:
			return nil, fmt.Errorf("load rate %s: %w", row.RateName, err)
		}
	}
	return refused, l.OpeningCredit.grant(ctx, h, account)
}

func (o Opening) grant(ctx context.Context, h *handle.Handler, account string) error {
	if o.Amount == "" {
		return nil
	}
	for _, to := range o.Accounts {
		if to == DefaultAccount {
			to = account
		}
		if _, err := Grant(ctx, h, to, events.CreditGranted{Amount: o.Amount, Currency: o.Currency, Reference: "opening"}); err != nil {
			return err
		}
	}
	return nil
}

// Grant grants credit to an account, and reports whether it did. The reference
// is unique within the account: a second grant with it does nothing, whatever
// the amount.
func Grant(ctx context.Context, h *handle.Handler, account string, credit events.CreditGranted) (granted bool, err error) {
	if !events.ValidID(events.AccountPrefix, account) {
		return false, fmt.Errorf("grant credit: %q is not an account id", account)
	}
	result, err := handle.Command(ctx, h, handle.Target{Stream: account, PartitionKey: account},
		handle.System("credit", credit.Reference), commands.GrantCredit{Granted: credit})
	if err != nil {
		return false, fmt.Errorf("grant credit to %s: %w", account, err)
	}
	return !result.Repeated, nil
}
