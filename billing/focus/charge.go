package focus

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/cockroachdb/apd/v3"

	"netsim/events"
	"netsim/projections"
	"netsim/rating"
)

// billingCurrency is the currency of the bill: of our two currencies, the
// national one.
const billingCurrency = rating.USD

// charge is a daily cost as a row of the dataset. Its strings, decimals too, are
// the texts of the columns; "" is null.
type charge struct {
	projections.CostLine
	provider string
	service  service
	model    rating.Model // zero if the rate is not known

	month      time.Time // the billing period
	start, end time.Time // the charge period

	cost, unitPrice               string // in the billing currency
	pricingCost, pricingUnitPrice string // in the pricing currency
	priced, pricingUnit           string
	consumed, consumedUnit        string
	rateAmount                    string
}

// pricer makes charges from daily costs.
type pricer struct {
	provider string
	prices   map[string]*apd.Decimal // of one unit of a currency, in the billing currency
}

func (p pricer) charge(line projections.CostLine) (charge, error) {
	c := charge{CostLine: line, provider: p.provider, service: serviceOf(line.EventType)}
	if err := c.time(); err != nil {
		return c, err
	}
	if c.RateType != "" {
		var err error
		if c.model, err = rating.ModelOf(c.RateType); err != nil {
			return c, fmt.Errorf("daily cost %d: %w", c.DailyCostID, err)
		}
	}
	price, ok := p.prices[c.Currency]
	if !ok {
		return c, fmt.Errorf("daily cost %d is in %s, which has no price in %s", c.DailyCostID, c.Currency, billingCurrency)
	}
	cost, err := rating.Parse(c.Cost)
	if err != nil {
		return c, fmt.Errorf("daily cost %d: %w", c.DailyCostID, err)
	}
	amount, err := rating.Parse(c.RateAmount)
	if err != nil {
		return c, fmt.Errorf("daily cost %d: %w", c.DailyCostID, err)
	}
	c.pricingCost, c.cost, c.rateAmount = text(cost), text(rating.Times(cost, price)), text(amount)
	if c.CorrectionOf != 0 {
		return c, nil // it corrects an amount, and has no quantity or price
	}
	return c, c.quantities(cost, amount, price)
}

// time sets the periods. A cost is billed in the month of its date; a correction
// has a later date than the day that it corrects.
func (c *charge) time() error {
	booked, err := time.Parse(time.DateOnly, c.Date)
	if err != nil {
		return fmt.Errorf("daily cost %d: %w", c.DailyCostID, err)
	}
	c.month = booked.AddDate(0, 0, 1-booked.Day())
	c.start = booked
	if c.CorrectedDate != "" {
		if c.start, err = time.Parse(time.DateOnly, c.CorrectedDate); err != nil {
			return fmt.Errorf("daily cost %d: %w", c.DailyCostID, err)
		}
	}
	c.end = c.start.AddDate(0, 0, 1)
	if c.MinimumPeriod != rating.PerMonth {
		return nil
	}
	// With a minimum period of a month, the first segment extends to the end of
	// the month.
	var segments []events.CostSegment
	if err := json.Unmarshal([]byte(c.SegmentsJSON), &segments); err != nil {
		return fmt.Errorf("read the segments of daily cost %d: %w", c.DailyCostID, err)
	}
	for _, s := range segments {
		if s.To.After(c.end) {
			c.end = s.To
		}
	}
	return nil
}

// quantities sets the consumed and the priced quantity. Price times quantity is
// exactly the cost. For an hourly rate these are its amount and unit-hours; for
// other periods the price of the day and unit-days, because each day of a month
// has its own price (docs/rating.md). If no decimal quantity gives the exact
// cost, as for a third of a day, the quantity is 1 and the cost its price.
func (c *charge) quantities(cost, amount, price *apd.Decimal) error {
	days, err := rating.Parse(c.UnitDays)
	if err != nil {
		return fmt.Errorf("daily cost %d: %w", c.DailyCostID, err)
	}
	unit := unitOf(c.model, c.UnitName, c.UnitSize)
	hours := rating.Times(days, apd.New(24, 0))
	if _, err := exact.Quantize(hours, hours, -12); err != nil { // drops the last digits, which come from rounded unit-days
		return fmt.Errorf("daily cost %d: %w", c.DailyCostID, err)
	}
	c.consumed, c.consumedUnit = text(hours), unit+"-Hours"

	quantity, unitPrice := hours, amount
	c.pricingUnit = unit + "-Hours"
	if c.Period != rating.PerHour {
		if unitPrice, err = rating.Parse(c.DayPrice); err != nil {
			return fmt.Errorf("daily cost %d: %w", c.DailyCostID, err)
		}
		quantity, c.pricingUnit = days, unit+"-Days"
	}
	if rating.Times(quantity, unitPrice).Cmp(cost) != 0 {
		// A part of a day that is not a finite decimal, or the rest of a month
		// whose days have different prices.
		quantity, unitPrice, c.pricingUnit = apd.New(1, 0), cost, "Count"
	}
	c.priced, c.pricingUnitPrice, c.unitPrice = text(quantity), text(unitPrice), text(rating.Times(unitPrice, price))
	return nil
}

func (c *charge) class() string {
	if c.CorrectionOf != 0 {
		return "Correction"
	}
	return ""
}

func (c *charge) description() string {
	if c.CorrectionOf != 0 {
		return fmt.Sprintf("Correction of the cost of %s on %s", c.RateName, c.start.Format(time.DateOnly))
	}
	return fmt.Sprintf("Use of %s on %s at %s %s per %s", c.RateName, c.start.Format(time.DateOnly), c.RateAmount, c.Currency, c.Period)
}

// exact has enough precision for any quantity.
var exact = apd.BaseContext.WithPrecision(60)

// text formats a decimal without an exponent and with at least one decimal, so
// that readers infer a decimal column from whole amounts too.
func text(d *apd.Decimal) string {
	reduced := new(apd.Decimal)
	reduced.Reduce(d)
	if reduced.Exponent >= 0 {
		return reduced.Text('f') + ".0"
	}
	return reduced.Text('f')
}
