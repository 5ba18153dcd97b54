package events

import "time"

// billingEvents lists the events of accounts and of the price list.
func billingEvents() []entry {
	return []entry{
		of[UsageRecorded](),
		of[CreditGranted](),
		of[CreditHeld](),
		of[CreditHoldChanged](),
		of[CreditReleased](),
		of[DailyCostRated](),
		of[RateSet](),
		of[AccessLogged](),
	}
}

// The meters of usage. Each is an eventType and, by default, a rateName.
const (
	MeterCluster   = "cluster"
	MeterStorage   = "storage"
	MeterWorkspace = "workspace"
)

// UsageRecorded records that an account's use of a resource changed. It is the
// billing event of Document 1, and opens, updates or closes a billing item.
// Source: completions 7.1, 7.2, 8 row 41.
type UsageRecorded struct {
	BillingEventID int64     `json:"billingEventId"`
	BillingItemID  int64     `json:"billingItemId"`
	Meter          string    `json:"eventType"`   // cluster, storage or workspace
	Action         string    `json:"eventAction"` // start, update or stop
	RateName       string    `json:"rateName"`
	ItemName       string    `json:"itemName"`
	PreviousCount  int64     `json:"previousCount"`      // the item's units before the event
	CurrentCount   int64     `json:"currentCount"`       // the item's units after the event
	BillableCount  int64     `json:"totalBillableCount"` // units of all active items of the rate
	WorkspaceID    string    `json:"workspaceId,omitempty"`
	SandboxID      string    `json:"sandboxId,omitempty"`
	UserID         string    `json:"userId,omitempty"`
	ResourceType   string    `json:"resourceType"` // simulation, traceset, mapping_file, results, workspace
	ResourceID     string    `json:"resourceId"`
	CauseType      string    `json:"causeType"`
	Ranks          int64     `json:"ranks,omitempty"`
	SizeBytes      int64     `json:"sizeBytes,omitempty"`
	Engine         string    `json:"engine,omitempty"`
	OccurredAt     time.Time `json:"occurredAt"` // eventTimestamp: when the cause happened
}

// CreditGranted records credit that was granted to an account. The reference is
// unique within the account.
type CreditGranted struct {
	Amount    string `json:"amount"` // decimal
	Currency  string `json:"currency"`
	Reference string `json:"reference"`
}

// CreditHeld records that an amount was held for a simulation.
type CreditHeld struct {
	SimulationID string    `json:"simulationId"`
	Amount       string    `json:"amount"` // decimal
	Currency     string    `json:"currency"`
	ExpiresAt    time.Time `json:"expiresAt"`
}

// CreditHoldChanged records that the amount held for a running simulation was changed to
// what the run has cost and an hour more, or to what was free. It ends the hold with the
// previous expiry, as a release would. Source: completions section 11.
type CreditHoldChanged struct {
	SimulationID   string    `json:"simulationId"`
	Amount         string    `json:"amount"`         // decimal, held from now on
	PreviousAmount string    `json:"previousAmount"` // decimal, held before
	Currency       string    `json:"currency"`
	ExpiresAt      time.Time `json:"expiresAt"`
}

// CreditReleased records that the amount held for a simulation was released.
type CreditReleased struct {
	SimulationID string `json:"simulationId"`
	Amount       string `json:"amount"` // decimal, the held amount
	Currency     string `json:"currency"`
	Reason       string `json:"reason"` // ended, cancelled, expired or not requested
}

// RateSet records one row of the price list. Source: completions 7.3.
type RateSet struct {
	RateID        int64  `json:"rateId"`
	AccountID     string `json:"accountId,omitempty"` // "" for the whole platform
	Platform      string `json:"platform"`
	RateName      string `json:"rateName"`
	RateType      string `json:"rateType"` // a rate model, docs/rating.md
	RateTypeRaw   string `json:"rateTypeRaw"`
	Amount        string `json:"amount"` // decimal
	Currency      string `json:"currency"`
	Period        string `json:"period"` // hour, day, month, year
	MinimumPeriod string `json:"minimumPeriod,omitempty"`
	TierStart     int64  `json:"tierStart"`
	TierEnd       int64  `json:"tierEnd,omitempty"` // exclusive; 0 is open
	PackageSize   int64  `json:"packageSize,omitempty"`
	UnitName      string `json:"unitName,omitempty"`
	UnitSize      string `json:"unitSize,omitempty"`
	Note          string `json:"note,omitempty"`
	StartDate     string `json:"startDate"`         // YYYY-MM-DD, inclusive
	EndDate       string `json:"endDate,omitempty"` // YYYY-MM-DD, exclusive
}

// DailyCostRated records what an item cost on one day at one rate.
// Source: completions 7.4.
type DailyCostRated struct {
	DailyCostID   int64         `json:"dailyCostId"`
	BillingItemID int64         `json:"billingItemId"`
	ItemName      string        `json:"itemName"`
	Date          string        `json:"date"` // YYYY-MM-DD
	RateID        int64         `json:"rateId"`
	RateName      string        `json:"rateName"`
	RateAmount    string        `json:"rateAmount"`             // decimal
	Cost          string        `json:"cost"`                   // decimal, exact
	PreviousCost  string        `json:"previousCost,omitempty"` // decimal, of the version it supersedes
	Currency      string        `json:"currency"`
	Quantity      int64         `json:"quantity"` // highest units that day
	WorkspaceID   string        `json:"workspaceId,omitempty"`
	SandboxID     string        `json:"sandboxId,omitempty"`
	UserID        string        `json:"userId,omitempty"`
	Segments      []CostSegment `json:"segments"`
	DayPrice      string        `json:"dayPrice"` // decimal
	UnitDays      string        `json:"unitDays"` // decimal, Σ units × fraction
	Period        string        `json:"period"`
	TierStart     int64         `json:"tierStart"`
	TierEnd       int64         `json:"tierEnd,omitempty"`
	EngineVersion string        `json:"engineVersion"` // the rating rule
	FirstEventID  int64         `json:"firstEventId"`
	LastEventID   int64         `json:"lastEventId"`
	Version       int64         `json:"version"`                // of the row (item, date, rate)
	Supersedes    int64         `json:"supersedes,omitempty"`   // dailyCostId of the previous version
	CorrectionOf  int64         `json:"correctionOf,omitempty"` // dailyCostId of the corrected row, in a closed month
}

// CostSegment is a part of a day in which nothing changed.
type CostSegment struct {
	From     time.Time `json:"from"` // inclusive
	To       time.Time `json:"to"`   // exclusive
	Units    int64     `json:"units"`
	Fraction string    `json:"fraction"` // decimal, of the day
	Count    int64     `json:"count"`    // units of all active items of the rate
}

// AccessLogged records that a caller filtered billing by a person's name.
type AccessLogged struct {
	Caller    string `json:"caller"`    // user id
	Operation string `json:"operation"` // such as listRates
	FilterKey string `json:"filterKey"` // userName; the value, a person's name, is not recorded
	SubjectID string `json:"subjectId,omitempty"`
}

func (UsageRecorded) EventType() string  { return "netsim.billing.usage_recorded.v1" }
func (CreditGranted) EventType() string  { return "netsim.billing.credit_granted.v1" }
func (CreditHeld) EventType() string     { return "netsim.billing.credit_held.v1" }
func (CreditReleased) EventType() string { return "netsim.billing.credit_released.v1" }
func (CreditHoldChanged) EventType() string {
	return "netsim.billing.credit_hold_changed.v1"
}
func (RateSet) EventType() string        { return "netsim.billing.rate_set.v1" }
func (DailyCostRated) EventType() string { return "netsim.billing.daily_cost_rated.v1" }
func (AccessLogged) EventType() string   { return "netsim.billing.access_logged.v1" }
