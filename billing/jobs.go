package billing

// AccrueDay is the job that books the costs of a day.
type AccrueDay struct {
	Date string `json:"date"` // YYYY-MM-DD, UTC
}

// Kind returns the name under which the job is stored.
func (AccrueDay) Kind() string { return "accrue_day" }

// ReleaseHolds is the job that releases overdue holds of credit.
type ReleaseHolds struct{}

// Kind returns the name under which the job is stored.
func (ReleaseHolds) Kind() string { return "release_holds" }
