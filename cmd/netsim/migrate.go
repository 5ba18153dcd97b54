package main

import (
	"context"
	"fmt"
	"os"

	"netsim/cmd/service"
	"netsim/cmd/settings"
	"netsim/infra/telemetry"
)

type migrate struct{}

// Run creates what the roles in NETSIM_ROLES need.
func (migrate) Run(ctx context.Context) error {
	c, err := settings.FromEnvironment()
	if err != nil {
		return err
	}
	log, err := telemetry.NewLog(os.Stderr, c.LogFormat, c.LogLevel)
	if err != nil {
		return err
	}
	if err := service.Migrate(ctx, c, log); err != nil {
		return err
	}
	_, err = fmt.Println("the topics, tables and bucket of this release exist")
	return err
}
