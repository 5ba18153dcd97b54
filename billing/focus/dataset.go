package focus

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"

	"netsim/events"
	"netsim/fault"
	"netsim/projections"
	"netsim/rating"
)

// The formats of a dataset.
const (
	CSV     = "csv"
	Parquet = "parquet"
)

// pageRows is how many rows are read at once.
const pageRows = 1000

// Request says which costs a dataset has, and in which form.
type Request struct {
	From, To    time.Time // days, UTC, both inclusive
	AccountID   string    // "" for the whole platform
	Format      string    // CSV or Parquet
	CreditPrice string    // of one CREDIT in USD: decimal, above zero, at most 6 decimals
	Provider    string    // the provider, publisher and invoice issuer
	MostRows    int       // of the dataset; 0 for any number
}

// Contents is what a dataset has.
type Contents struct {
	Rows   int64
	Totals map[string]string // effective cost by pricing currency
}

// Write writes the daily costs of a range of days as a dataset. All queries of the reader
// must see one snapshot (projections.CostSnapshot). Memory does not depend on the number of
// rows, except for the index of a Parquet file.
//
// The error is Unprocessable, before anything is written, if there are more rows than
// MostRows. If the rows do not add up to the cost summary of the snapshot, Write fails and
// does not end the dataset.
func Write(ctx context.Context, db projections.Reader, r Request, to io.Writer) (Contents, error) {
	price, err := r.check()
	if err != nil {
		return Contents{}, err
	}
	x := export{Request: r, columns: Columns(), totals: map[string]string{}}
	x.row = make([]string, len(x.columns))
	x.pricer = pricer{r.Provider, map[string]*apd.Decimal{billingCurrency: apd.New(1, 0), rating.Credit: price}}
	if err := x.count(ctx, db); err != nil {
		return Contents{}, err
	}
	if err := x.data(ctx, db, to); err != nil {
		return Contents{}, err
	}
	return Contents{x.rows, x.totals}, nil
}

// maxPricePlaces keeps a cost with 18 decimals, times the price, within Scale.
const maxPricePlaces = 6

// Check returns a Validation error if there is no dataset for the request.
func (r Request) Check() error {
	_, err := r.check()
	return err
}

func (r Request) check() (*apd.Decimal, error) {
	price, err := rating.Parse(r.CreditPrice)
	switch {
	case err != nil:
		return nil, fault.New(fault.Validation, "the price of a credit: %v", err)
	case price.Sign() <= 0 || price.Exponent < -maxPricePlaces:
		return nil, fault.New(fault.Validation, "the price of a credit, %s, must be above zero and have at most %d decimals", r.CreditPrice, maxPricePlaces)
	case r.To.Before(r.From):
		return nil, fault.New(fault.Validation, "to, %s, must not be before from, %s", r.To.Format(time.DateOnly), r.From.Format(time.DateOnly))
	case r.AccountID != "" && !events.ValidID(events.AccountPrefix, r.AccountID):
		return nil, fault.New(fault.Validation, "account %q is not an account id", r.AccountID)
	case r.Format != CSV && r.Format != Parquet:
		return nil, fault.New(fault.Validation, "format %q is unknown: csv and parquet are known", r.Format)
	}
	return price, nil
}

// export is the state of one export.
type export struct {
	Request
	pricer
	columns []Column
	row     []string
	rows    int64
	totals  map[string]string
}

// count returns an error if there are too many rows.
func (x *export) count(ctx context.Context, db projections.Reader) error {
	if x.MostRows == 0 {
		return nil
	}
	more, err := projections.MoreCosts(ctx, db, x.query(), x.MostRows)
	if err == nil && more {
		err = fault.New(fault.Unprocessable, "%s to %s have more than %d daily costs; ask for fewer days", x.From.Format(time.DateOnly), x.To.Format(time.DateOnly), x.MostRows)
	}
	return err
}

func (x *export) query() projections.DailyCostQuery {
	return projections.DailyCostQuery{
		BillingFilter: projections.BillingFilter{AccountID: x.AccountID, Page: projections.Page{Limit: pageRows}},
		StartDate:     x.From.Format(time.DateOnly), EndDate: x.To.Format(time.DateOnly),
	}
}

func (x *export) data(ctx context.Context, db projections.Reader, to io.Writer) (err error) {
	var out writer
	if x.Format == CSV {
		if out, err = newCSV(to, x.columns); err != nil {
			return err
		}
	} else {
		out = newParquet(to, x.columns)
	}
	for query := x.query(); ; {
		lines, next, err := projections.ListCostLines(ctx, db, query)
		if err != nil {
			return err
		}
		for _, line := range lines {
			if err := x.line(out, line); err != nil {
				return err
			}
		}
		if query.Page.After = next; next == nil {
			break
		}
	}
	// A dataset whose rows do not add up is not ended.
	if err := x.agree(ctx, db); err != nil {
		return err
	}
	return out.close()
}

func (x *export) line(out writer, line projections.CostLine) error {
	c, err := x.charge(line)
	if err != nil {
		return err
	}
	for i, column := range x.columns {
		if x.row[i] = column.value(&c); x.row[i] == "" && !column.Nullable {
			return fmt.Errorf("daily cost %d has no %s", c.DailyCostID, column.Name)
		}
		if column.Type == String {
			x.row[i] = plainText(x.row[i])
		}
	}
	total, known := x.totals[c.Currency]
	if !known {
		total = "0"
	}
	if x.totals[c.Currency], err = rating.Add(total, c.Cost); err != nil {
		return err
	}
	x.rows++
	return out.write(x.row)
}

// plainText prefixes a text that a spreadsheet would read as a formula with an
// apostrophe: users choose names, and others open the file.
func plainText(value string) string {
	if value != "" && strings.ContainsRune("=+-@\t\r\n", rune(value[0])) {
		return "'" + value
	}
	return value
}

// agree returns an error unless the rows add up to the cost summary of the read
// model.
func (x *export) agree(ctx context.Context, db projections.Reader) error {
	sums, err := projections.SumCosts(ctx, db, x.AccountID, x.From, x.To)
	if err != nil {
		return err
	}
	kept := 0
	for _, s := range sums {
		if s.RateName != nil || s.WorkspaceID != nil {
			continue
		}
		kept++
		if !rating.Equal(s.Total, x.totals[s.Currency]) {
			return fmt.Errorf("the rows sum to %q %s, the cost summary is %s", x.totals[s.Currency], s.Currency, s.Total)
		}
	}
	if kept != len(x.totals) {
		return fmt.Errorf("the rows have %d currencies, the cost summary has %d", len(x.totals), kept)
	}
	return nil
}
