package rating

import "fmt"

// The currencies of prices, costs and credits (completions 7.1).
const (
	Credit = "CREDIT" // the platform's own
	USD    = "USD"
)

// CheckCurrency returns an error for any other currency.
func CheckCurrency(currency string) error {
	if currency != Credit && currency != USD {
		return fmt.Errorf("there is no currency %q: %s and %s are known", currency, Credit, USD)
	}
	return nil
}

// CheckCredit returns an error if the amount is not a decimal above 0, or the
// currency is unknown.
func CheckCredit(amount, currency string) error {
	d, err := Parse(amount)
	if err != nil {
		return err
	}
	if d.Sign() <= 0 {
		return fmt.Errorf("amount %s is not above 0", amount)
	}
	return CheckCurrency(currency)
}
