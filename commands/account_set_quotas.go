package commands

import (
	"maps"
	"slices"
	"time"

	"netsim/events"
)

// SetQuotas sets quotas of an account. A nil limit removes the quota, so that the
// limit of the settings applies. Setting the same limits again does nothing.
type SetQuotas struct{ Limits map[string]*int64 }

// Decide implements Command.
func (c SetQuotas) Decide(a *Account, _ time.Time) (events.Data, error) {
	set := maps.Clone(a.Quotas)
	if set == nil {
		set = map[string]int64{}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Limits)) {
		limit := c.Limits[name]
		if limit == nil {
			limit = new(int64)
			delete(set, name)
		} else {
			set[name] = *limit
		}
		if err := CheckQuota(name, *limit); err != nil {
			return nil, err
		}
	}
	if maps.Equal(set, a.Quotas) {
		return nil, nil
	}
	quotas := make([]events.AccountQuota, 0, len(set))
	for _, name := range slices.Sorted(maps.Keys(set)) {
		quotas = append(quotas, events.AccountQuota{Name: name, Limit: set[name]})
	}
	return events.AccountQuotasSet{Quotas: quotas}, nil
}
