package settings

import "netsim/stream/webhooks"

// HasWebhooks reports whether the deployment has webhooks: there is a key for their secrets.
func (c *Config) HasWebhooks() bool { return c.WebhookKeys != "" }

// Webhooks returns the keys of webhooks, and the networks to which they may be sent besides
// public addresses.
func (c *Config) Webhooks() (webhooks.Keys, webhooks.Networks, error) {
	keys, err := webhooks.ParseKeys(c.WebhookKeys)
	if err != nil {
		return keys, webhooks.Networks{}, err
	}
	networks, err := webhooks.ParseNetworks(c.WebhookNetworks)
	return keys, networks, err
}
