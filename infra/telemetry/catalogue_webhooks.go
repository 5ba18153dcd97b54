package telemetry

// webhookMetrics lists the metrics of the deliveries to webhooks.
func webhookMetrics() []Metric {
	reactor := []string{RoleReactor}
	return []Metric{
		{Name: "netsim_webhooks_delivering", Kind: Gauge, Roles: reactor,
			Help: "1 in the process that delivers to webhooks, 0 in others. The other metrics of webhooks are those of this process."},
		{Name: "netsim_webhooks_active", Kind: Gauge, Unit: "webhooks", Roles: reactor,
			Help: "Webhooks that are neither paused nor disabled."},
		{Name: "netsim_webhooks_full", Kind: Gauge, Unit: "webhooks", Roles: reactor,
			Help: "Webhooks with so many messages to deliver that no more are read for them."},
		{Name: "netsim_webhooks_messages", Kind: Gauge, Unit: "messages", Roles: reactor,
			Help: "Messages that wait for delivery."},
		{Name: "netsim_webhooks_sending", Kind: Gauge, Unit: "attempts", Roles: reactor,
			Help: "Attempts that wait for an answer."},
		{Name: "netsim_webhooks_attempts_total", Kind: Counter, Unit: "attempts", Labels: []string{"outcome"}, Roles: reactor,
			Help: "Attempts by outcome: delivered, failed, which are repeated, or dropped, which were the last of their message."},
		{Name: "netsim_webhooks_disabled_total", Kind: Counter, Unit: "webhooks", Roles: reactor,
			Help: "Webhooks that this process disabled, because their receiver is gone or their position cannot be resumed from."},
		{Name: "netsim_webhooks_failures_total", Kind: Counter, Unit: "failures", Roles: reactor,
			Help: "Failures of the delivering itself, such as those of the database; receivers that fail do not count."},
	}
}
