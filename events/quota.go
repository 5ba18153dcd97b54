package events

// AccountQuotasSet records that an operator set quotas of an account. It holds
// all that differ from the service's settings from then on; a quota that is not
// in it is as the settings say.
type AccountQuotasSet struct {
	Quotas []AccountQuota `json:"quotas"` // by name
}

// AccountQuota is the limit of one quota.
type AccountQuota struct {
	Name  string `json:"name"` // such as streams.open
	Limit int64  `json:"limit"`
}

func (AccountQuotasSet) EventType() string { return "netsim.billing.quotas_set.v1" }
