// Package focus writes daily costs as a cost and usage dataset of FOCUS 1.2,
// the FinOps Open Cost and Usage Specification, with its metadata.
//
// There is one row for every daily cost and every correction. The sum of
// PricingCurrencyEffectiveCost in a currency equals the cost summary of the same
// days exactly; otherwise the export fails. docs/focus.md says where each column
// comes from.
//
// FOCUS bills in national currencies only, so costs in CREDIT are billed in USD
// at a price of a credit that the caller gives. Rows have ids of persons, never
// names.
package focus
