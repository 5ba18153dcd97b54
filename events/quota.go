package events

// AccountQuotasSet records that an operator set quotas of an account. It has all
// quotas that operators have set for the account; the settings of the service
// have the limits of the others.
type AccountQuotasSet struct {
	Quotas []AccountQuota `json:"quotas"` // by name
}

// AccountQuota is the limit of one quota.
type AccountQuota struct {
	Name  string `json:"name"` // such as streams.open
	Limit int64  `json:"limit"`
}

func (AccountQuotasSet) EventType() string { return "netsim.billing.quotas_set.v1" }
