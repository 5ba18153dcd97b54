package events

// AccountQuotasSet records that an operator set quotas of an account. It has all
// quotas that now differ from the service's settings; the settings have the rest.
type AccountQuotasSet struct {
	Quotas []AccountQuota `json:"quotas"` // by name
}

// AccountQuota is the limit of one quota.
type AccountQuota struct {
	Name  string `json:"name"` // such as streams.open
	Limit int64  `json:"limit"`
}

func (AccountQuotasSet) EventType() string { return "netsim.billing.quotas_set.v1" }
