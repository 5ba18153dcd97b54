package cluster

import (
	"time"

	"netsim/infra/devissuer"
	"netsim/infra/objects"
)

// Identity is who a token is for.
type Identity struct {
	Service       bool
	User, Account string
}

// Token returns a token that is valid for a day.
func (c *Cluster) Token(i Identity) (string, error) {
	return devissuer.Mint(c.issuer.Data, devissuer.Options{Service: i.Service, User: i.User, Account: i.Account, TTL: 24 * time.Hour}, time.Now())
}

// Objects is the store of the service, without a link.
func (c *Cluster) Objects() *objects.Store {
	return objects.New(objects.Config{
		Endpoint: "http://" + c.objects.Addr, Region: c.objects.Region, Bucket: "netsim", AccessKey: c.objects.AccessKey, SecretKey: c.objects.SecretKey,
	})
}
