package main

import (
	"context"
	"fmt"
	"sync"

	"netsim/events"
	"netsim/prove/cluster"
)

// accounts is the number of accounts that share the service.
const accounts = 3

// startLoad starts the clients. They end with the context.
func (c *campaign) startLoad(ctx context.Context) (*sync.WaitGroup, error) {
	var all sync.WaitGroup
	next := 0
	for a := range accounts {
		account := events.NewID(events.AccountPrefix)
		service, err1 := c.cluster.Token(cluster.Identity{Service: true, User: fmt.Sprint("robot-", a), Account: account})
		if err1 != nil {
			return nil, err1
		}
		c.report.Accounts = append(c.report.Accounts, account)
		begin := func(count int, work func(*client, context.Context)) {
			for range count {
				next++
				client := c.newClient(next, account, service)
				all.Go(func() { work(client, ctx) })
			}
		}
		s := newShelf(workspaces)
		begin(max(1, c.options.clients/accounts), func(cl *client, ctx context.Context) { cl.useRegisters(ctx, s) })
	}
	return &all, nil
}
