package readapi

import (
	"context"
	"strings"
	"time"

	"netsim/api"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/auth"
	"netsim/infra/web"
	"netsim/projections"
	"netsim/readapi/access"
)

// Billing implements the seven billing operations (document 1, Billing;
// completions 7), FOCUS datasets, and what an audit reads: bundles and checkpoints. All need a service token or the role billing, which the access rules
// check. They show the token's account, or the whole platform.
type Billing struct {
	DB       projections.Reader
	Cursors  *web.Cursors
	Now      func() time.Time
	Platform string   // the deployment's name
	Postpaid []string // accounts that may run without credit

	// Lag returns the age of the oldest fact that metering has not processed.
	Lag func(ctx context.Context) (time.Duration, error)
	// LogAccess records a query by a person's name. The account is "" if the caller
	// sees the whole platform.
	LogAccess func(ctx context.Context, account, correlationID string, access events.AccessLogged) error

	OpenBundle OpenBundle
	Bundles    Turns

	WriteDataset WriteDataset
	Datasets     Turns
}

// billingLag is a header of every response: how far billing is behind, in
// milliseconds, or -1 if that is unknown. It is measured before the data is read,
// so at 0 the response is complete.
type billingLag struct{ XBillingLagMs int64 }

func (b *Billing) lag(ctx context.Context) billingLag {
	behind, err := b.Lag(ctx)
	if err != nil {
		return billingLag{-1}
	}
	return billingLag{behind.Milliseconds()}
}

// maxRange is the maximum number of days in a range, both ends included.
const maxRange = 366

// dates parses and checks a range of days, both inclusive.
func dates(start, end string) (from, to time.Time, err error) {
	return days("startDate", start, "endDate", end)
}

// days is dates for parameters with other names.
func days(first, start, last, end string) (from, to time.Time, err error) {
	if from, err = date(first, start); err != nil {
		return from, to, err
	}
	if to, err = date(last, end); err != nil {
		return from, to, err
	}
	switch count := int(to.Sub(from)/(24*time.Hour)) + 1; {
	case count < 1:
		err = fault.New(fault.Validation, "%s %s is before %s %s", last, end, first, start)
	case count > maxRange:
		err = fault.New(fault.Validation, "%s %s to %s %s are %d days; at most %d are allowed", first, start, last, end, count, maxRange)
	}
	return from, to, err
}

func date(name, text string) (time.Time, error) {
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return at, fault.New(fault.Validation, "%s must be a date YYYY-MM-DD, got %q", name, text)
	}
	return at, nil
}

// audit records the access if the request has a person's name.
func (b *Billing) audit(ctx context.Context, caller auth.Caller, operation, userName string) error {
	if userName == "" {
		return nil
	}
	subject, err := projections.FindUser(ctx, b.DB, access.Account(caller), userName)
	if err != nil {
		return unreachable(err)
	}
	return b.LogAccess(ctx, access.Account(caller), web.RequestID(ctx), events.AccessLogged{
		Caller: caller.UserID, Operation: operation, FilterKey: "userName", SubjectID: subject,
	})
}

// unreachable turns an outage of the read store into BadGateway, and returns any
// other error unchanged.
func unreachable(err error) error {
	if err == nil || projections.Outage(err) == "" {
		return err
	}
	return &fault.Fault{Code: fault.BadGateway, Message: "the billing service is unavailable", Cause: err}
}

// filter returns the filter that all billing lists share.
func (b *Billing) filter(caller auth.Caller, l listing, workspaceName, userName, eventType string) projections.BillingFilter {
	return projections.BillingFilter{
		AccountID: access.Account(caller), WorkspaceName: workspaceName, UserName: userName, EventType: eventType, Page: l.page,
	}
}

// nullable returns nil for "".
func nullable(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// hash formats the hash of a record, "" for none.
func hash(hex string) string {
	if hex == "" {
		return ""
	}
	return "sha256:" + hex
}

// ListBalances implements GET /billing/balance.
func (b *Billing) ListBalances(ctx context.Context, r api.ListBalancesRequestObject) (api.ListBalancesResponseObject, error) {
	lag := b.lag(ctx)
	caller, err := access.Caller(ctx)
	if err != nil {
		return nil, err
	}
	l, err := newListing(ctx, b.Cursors, r, 100)
	if err != nil {
		return nil, err
	}
	rows, next, err := projections.ListBalances(ctx, b.DB, access.Account(caller), l.page)
	if err != nil {
		return nil, unreachable(err)
	}
	balances := make([]api.Balance, len(rows))
	for i, row := range rows {
		balances[i] = api.Balance{
			AccountID: row.AccountID, AccountName: row.AccountName, AccountType: b.accountType(row.AccountID),
			Currency: api.Currency(row.Currency), TotalCredits: row.Credits, TotalDebits: row.Debits,
			CurrentBalance: row.Current, UpdatedAt: timestamp(row.UpdatedAt),
		}
	}
	if account := access.Account(caller); len(rows) == 0 && account != "" && l.page.After == nil {
		balances = append(balances, api.Balance{ // the account has no credits and no costs
			AccountID: account, AccountName: nullable(caller.AccountName), AccountType: b.accountType(account),
			Currency: api.CurrencyCREDIT, TotalCredits: "0", TotalDebits: "0", CurrentBalance: "0", UpdatedAt: timestamp(b.Now()),
		})
	}
	return api.ListBalances200JSONResponse{Headers: api.ListBalances200ResponseHeaders(lag), Body: api.BalanceList{Balances: balances, Pagination: l.pagination(len(balances), next)}}, nil
}

func (b *Billing) accountType(account string) api.BalanceAccountType {
	for _, postpaid := range b.Postpaid {
		if account == postpaid {
			return api.BalanceAccountTypePostpaid
		}
	}
	return api.BalanceAccountTypePrepaid
}

// eventName returns an event type without its prefix and version.
func eventName(eventType string) string {
	name := strings.TrimPrefix(eventType, "netsim.")
	if at := strings.LastIndex(name, ".v"); at > 0 {
		name = name[:at]
	}
	return name
}
