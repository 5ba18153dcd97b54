package focus

import (
	"strconv"
	"time"

	"netsim/infra/parquetfile"
)

// Type is the data type of a column, as the metadata names it.
type Type string

// The data types.
const (
	String   Type = "STRING"
	Decimal  Type = "DECIMAL"
	DateTime Type = "DATETIME"
	Integer  Type = "INTEGER"
	JSON     Type = "JSON" // an object of strings and numbers
)

// Decimals have at most 18 decimals, 6 more in the billing currency, and at most
// 14 digits before the point, which DECIMAL(38, 24) holds exactly.
const (
	Precision = parquetfile.Precision
	Scale     = 24
)

// Column is a column of the dataset.
type Column struct {
	Name     string
	Type     Type
	Nullable bool
	value    func(*charge) string // "" is null: FOCUS has no empty strings
}

// Columns returns the columns of the dataset, sorted by name. Our own, whose
// names begin with x_, are last.
func Columns() []Column {
	return append(standard(), custom()...)
}

func standard() []Column {
	return []Column{
		{"BilledCost", Decimal, false, func(c *charge) string { return c.cost }},
		{"BillingAccountId", String, false, func(c *charge) string { return c.AccountID }},
		{"BillingAccountName", String, true, func(c *charge) string { return c.AccountName }},
		{"BillingCurrency", String, false, func(*charge) string { return billingCurrency }},
		{"BillingPeriodEnd", DateTime, false, func(c *charge) string { return moment(c.month.AddDate(0, 1, 0)) }},
		{"BillingPeriodStart", DateTime, false, func(c *charge) string { return moment(c.month) }},
		{"ChargeCategory", String, false, func(*charge) string { return "Usage" }},
		{"ChargeClass", String, true, (*charge).class},
		{"ChargeDescription", String, true, (*charge).description},
		{"ChargeFrequency", String, false, func(*charge) string { return "Usage-Based" }},
		{"ChargePeriodEnd", DateTime, false, func(c *charge) string { return moment(c.end) }},
		{"ChargePeriodStart", DateTime, false, func(c *charge) string { return moment(c.start) }},
		{"ConsumedQuantity", Decimal, true, func(c *charge) string { return c.consumed }},
		{"ConsumedUnit", String, true, func(c *charge) string { return c.consumedUnit }},
		{"ContractedCost", Decimal, false, func(c *charge) string { return c.cost }},
		{"ContractedUnitPrice", Decimal, true, func(c *charge) string { return c.unitPrice }},
		{"EffectiveCost", Decimal, false, func(c *charge) string { return c.cost }},
		{"InvoiceId", String, true, func(*charge) string { return "" }},
		{"InvoiceIssuerName", String, false, func(c *charge) string { return c.provider }},
		{"ListCost", Decimal, false, func(c *charge) string { return c.cost }},
		{"ListUnitPrice", Decimal, true, func(c *charge) string { return c.unitPrice }},
		{"PricingCategory", String, true, func(*charge) string { return "Standard" }},
		{"PricingCurrency", String, false, func(c *charge) string { return c.Currency }},
		{"PricingCurrencyContractedUnitPrice", Decimal, true, func(c *charge) string { return c.pricingUnitPrice }},
		{"PricingCurrencyEffectiveCost", Decimal, false, func(c *charge) string { return c.pricingCost }},
		{"PricingCurrencyListUnitPrice", Decimal, true, func(c *charge) string { return c.pricingUnitPrice }},
		{"PricingQuantity", Decimal, true, func(c *charge) string { return c.priced }},
		{"PricingUnit", String, true, func(c *charge) string { return c.pricingUnit }},
		{"ProviderName", String, false, func(c *charge) string { return c.provider }},
		{"PublisherName", String, false, func(c *charge) string { return c.provider }},
		{"ResourceId", String, true, func(c *charge) string { return c.ResourceID }},
		{"ResourceName", String, true, (*charge).resourceName},
		{"ResourceType", String, true, (*charge).resourceType},
		{"ServiceCategory", String, false, func(c *charge) string { return c.service.category }},
		{"ServiceName", String, false, func(c *charge) string { return c.service.name }},
		{"ServiceSubcategory", String, false, func(c *charge) string { return c.service.subcategory }},
		{"SkuId", String, true, func(c *charge) string { return c.RateName }},
		{"SkuMeter", String, true, func(c *charge) string { return c.service.meter }},
		{"SkuPriceDetails", JSON, true, (*charge).priceDetails},
		{"SkuPriceId", String, true, (*charge).priceID},
		{"SubAccountId", String, true, func(c *charge) string { return c.WorkspaceID }},
		{"SubAccountName", String, true, (*charge).subAccountName},
		{"SubAccountType", String, true, (*charge).subAccountType},
		{"Tags", JSON, true, (*charge).tags},
	}
}

func custom() []Column {
	return []Column{
		{"x_BillingItemId", Integer, false, func(c *charge) string { return integer(c.BillingItemID) }},
		{"x_CorrectionOf", Integer, true, func(c *charge) string { return optionalID(c.CorrectionOf) }},
		{"x_DailyCostId", Integer, false, func(c *charge) string { return integer(c.DailyCostID) }},
		{"x_DailyCostVersion", Integer, false, func(c *charge) string { return integer(c.Version) }},
		{"x_EngineVersion", String, false, func(c *charge) string { return c.EngineVersion }},
		{"x_FirstBillingEventId", Integer, true, func(c *charge) string { return optionalID(c.FirstEventID) }},
		{"x_HighestUnits", Integer, false, func(c *charge) string { return integer(c.Quantity) }},
		{"x_LastBillingEventHash", String, true, (*charge).eventHash},
		{"x_LastBillingEventId", Integer, true, func(c *charge) string { return optionalID(c.LastEventID) }},
		{"x_RateAmount", Decimal, false, func(c *charge) string { return c.rateAmount }},
		{"x_RateId", Integer, false, func(c *charge) string { return integer(c.RateID) }},
		{"x_Supersedes", Integer, true, func(c *charge) string { return optionalID(c.Supersedes) }},
		{"x_UnitName", String, true, func(c *charge) string { return c.UnitName }},
		{"x_UnitSize", String, true, func(c *charge) string { return c.UnitSize }},
	}
}

// moment formats an instant as FOCUS requires: ISO 8601, UTC, with a Z.
func moment(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05Z") }

func integer(n int64) string { return strconv.FormatInt(n, 10) }

// optionalID formats an id; 0 is null.
func optionalID(id int64) string {
	if id == 0 {
		return ""
	}
	return integer(id)
}
