package cluster

import (
	"time"

	"netsim/infra/devissuer"
)

// Identity is who a token is for.
type Identity struct {
	Service       bool
	User, Account string
}

// Token returns a token that is valid for a day.
func (c *Cluster) Token(i Identity) (string, error) {
	return devissuer.Mint(c.issuer.data, devissuer.Options{Service: i.Service, User: i.User, Account: i.Account, TTL: 24 * time.Hour}, time.Now())
}
