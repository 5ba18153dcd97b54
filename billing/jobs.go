package billing

// AccrueDay is the job that rates the costs of a day.
type AccrueDay struct {
	Date string `json:"date"` // YYYY-MM-DD, UTC
}

// Kind is its stored name.
func (AccrueDay) Kind() string { return "accrue_day" }

// ReleaseHolds is the job that releases the credit that is held for too long.
type ReleaseHolds struct{}

// Kind is its stored name.
func (ReleaseHolds) Kind() string { return "release_holds" }
