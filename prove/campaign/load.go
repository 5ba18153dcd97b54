package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"netsim/events"
	"netsim/infra/wait"
	"netsim/prove/cluster"
)

// accounts is the number of accounts that share the service.
const accounts = 3

// startLoad starts the clients of every account. They end with the context. The
// followers of the feeds go on until stopFollowing is called.
func (c *campaign) startLoad(ctx context.Context) (*sync.WaitGroup, error) {
	var all sync.WaitGroup
	following, stop := context.WithCancel(context.WithoutCancel(ctx))
	c.stopFollowing = stop
	next := 0
	for a := range accounts {
		account := events.NewID(events.AccountPrefix)
		c.report.Accounts = append(c.report.Accounts, account)
		token, err := c.cluster.Token(cluster.Identity{Service: true, User: fmt.Sprint("robot-", a), Account: account})
		if err != nil {
			return nil, err
		}
		another := func() *client {
			next++
			return c.newClient(next, account, token)
		}
		f := newFollower(another())
		c.followers = append(c.followers, f)
		home, err := c.openAccount(ctx, f.client)
		if err != nil {
			return nil, err
		}
		begin := func(count int, work func(*client, context.Context)) {
			for range count {
				cl := another()
				cl.home = home
				all.Go(func() { work(cl, ctx) })
			}
		}
		go f.follow(following)
		spaces, drafts := newShelf(workspaces), newShelf(configurations)
		writers := max(1, c.options.clients/accounts)
		begin(writers, func(cl *client, ctx context.Context) { cl.useRegisters(ctx, spaces) })
		begin((writers+1)/2, func(cl *client, ctx context.Context) { cl.useRegisters(ctx, drafts) })
		begin(1, func(cl *client, ctx context.Context) { cl.compareVersions(ctx, drafts) })
		begin(2, (*client).runSimulations)
		begin(1, (*client).uploadFiles)
		begin(1, (*client).readBilling)
	}
	return &all, nil
}

// openAccount grants an account credit, and creates the workspace of its
// configurations and files, which is not deleted.
func (c *campaign) openAccount(ctx context.Context, owner *client) (home string, err error) {
	if out, err := c.repeat(ctx, "credit", "grant", owner.account, "100000", "--reference", "campaign"); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	ctx, cancel := context.WithTimeout(ctx, stallTimeout)
	defer cancel()
	create := request{
		name: "create home", method: "POST", path: "/api/v1/workspaces", body: map[string]any{"name": owner.unique("home")},
		header: map[string]string{"Idempotency-Key": "home-" + owner.account},
	}
	got := owner.do(ctx, create)
	for got.unknown() && wait.For(ctx, time.Second) == nil {
		got = owner.do(ctx, create)
	}
	if got.status != http.StatusCreated {
		return "", errors.New("the first workspace was answered with " + string(got.body))
	}
	return got.text("id"), nil
}
