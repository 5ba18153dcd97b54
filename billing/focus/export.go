package focus

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"

	"netsim/events"
	"netsim/fault"
	"netsim/projections"
	"netsim/rating"
)

// The formats of an export.
const (
	CSV     = "csv"
	Parquet = "parquet"
)

// pageRows is how many rows are read at once.
const pageRows = 1000

// Request says what to export.
type Request struct {
	From, To    time.Time // days, UTC, both inclusive
	AccountID   string    // "" for the whole platform
	Format      string    // CSV or Parquet
	CreditPrice string    // of one CREDIT in USD: decimal, above zero, at most 6 decimals
	Directory   string    // created if it is missing; files of an earlier export are replaced
	Provider    string    // the provider, publisher and invoice issuer
	Generator   string    // version of this program
}

// Report is the result of an export.
type Report struct {
	Rows     int64
	Totals   map[string]string // effective cost by pricing currency
	Data     string            // path of the dataset
	Metadata string            // path of its metadata
}

// Export writes the daily costs of a range of days. All queries of the reader
// must see one snapshot. Memory does not depend on the number of rows, except for
// the index of a Parquet file.
//
// If the rows do not add up to the cost summary of the snapshot, Export fails and
// writes no dataset.
func Export(ctx context.Context, db projections.Reader, r Request) (Report, error) {
	price, err := r.check()
	if err != nil {
		return Report{}, err
	}
	if err := os.MkdirAll(r.Directory, 0o755); err != nil {
		return Report{}, fmt.Errorf("make the directory: %w", err)
	}
	columns := Columns()
	x := export{
		Request: r, columns: columns, row: make([]string, len(columns)), totals: map[string]string{},
		pricer: pricer{r.Provider, map[string]*apd.Decimal{billingCurrency: apd.New(1, 0), rating.Credit: price}},
	}
	name := "cost-and-usage." + r.Format
	at, err := x.file(name, func(to io.Writer) error { return x.data(ctx, db, to) })
	if err != nil {
		return Report{}, err
	}
	metadata := Metadata{
		Schema: []Schema{schemaOf(columns, r.Generator)}, SchemaID: SchemaID(columns), DataLocation: []Location{at},
		StartDate: r.From.Format(time.DateOnly), EndDate: r.To.Format(time.DateOnly), AccountID: r.AccountID, CreditPrice: r.CreditPrice,
	}
	metadata.DataGenerator.DataGenerator = r.Provider
	described := name + ".metadata.json"
	if _, err := x.file(described, func(to io.Writer) error {
		out := json.NewEncoder(to)
		out.SetIndent("", "  ")
		return out.Encode(metadata)
	}); err != nil {
		return Report{}, err
	}
	return Report{x.rows, x.totals, filepath.Join(r.Directory, name), filepath.Join(r.Directory, described)}, nil
}

// maxPricePlaces keeps a cost with 18 decimals, times the price, within Scale.
const maxPricePlaces = 6

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

// file writes a file, gives it its name when it is complete, and returns its
// description.
func (x *export) file(name string, write func(io.Writer) error) (at Location, err error) {
	file, err := os.CreateTemp(x.Directory, name+".partial-*")
	if err != nil {
		return at, fmt.Errorf("make %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			_ = file.Close()
			_ = os.Remove(file.Name())
		}
	}()
	sum := &tally{hash: sha256.New(), to: file}
	buffered := bufio.NewWriterSize(sum, 1<<20)
	if err = write(buffered); err != nil {
		return at, fmt.Errorf("write %s: %w", name, err)
	}
	for _, step := range []func() error{
		buffered.Flush, file.Sync, file.Close,
		func() error { return os.Chmod(file.Name(), 0o644) },
		func() error { return os.Rename(file.Name(), filepath.Join(x.Directory, name)) },
	} {
		if err = step(); err != nil {
			return at, fmt.Errorf("write %s: %w", name, err)
		}
	}
	return Location{FilePath: name, Bytes: sum.bytes, Rows: x.rows, SHA256: hex.EncodeToString(sum.hash.Sum(nil))}, nil
}

// tally counts and hashes the bytes that it passes on.
type tally struct {
	hash  hash.Hash
	to    io.Writer
	bytes int64
}

func (t *tally) Write(p []byte) (int, error) {
	n, err := t.to.Write(p)
	t.hash.Write(p[:n])
	t.bytes += int64(n)
	return n, err
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
	query := projections.DailyCostQuery{
		BillingFilter: projections.BillingFilter{AccountID: x.AccountID, Page: projections.Page{Limit: pageRows}},
		StartDate:     x.From.Format(time.DateOnly), EndDate: x.To.Format(time.DateOnly),
	}
	for {
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
	if err := out.close(); err != nil {
		return err
	}
	return x.agree(ctx, db)
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
