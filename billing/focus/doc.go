// Package focus writes daily costs as a cost and usage dataset of FOCUS 1.2,
// the FinOps Open Cost and Usage Specification, with its metadata.
//
// Every daily cost and every correction is one row, and nothing else is a row:
// the sum of PricingCurrencyEffectiveCost in a currency is the cost summary of
// the same days, to the last digit, and an export that finds it otherwise fails.
// docs/focus.md says where each column comes from.
//
// FOCUS bills in national currencies only, so what is priced in CREDIT is
// billed in USD at a price of a credit that the caller gives. Rows hold ids of
// persons, never names.
package focus
