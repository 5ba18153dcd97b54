package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"netsim/simulator/collective"
	"netsim/simulator/document"
	"netsim/simulator/presets"
	"netsim/simulator/topology"
)

// topologies measures the validation of a topology while a user draws it. The topology
// has three tiers and 4,096 ranks, and each request expands it again.
func (b *bench) topologies(ctx context.Context) (err error) {
	s, err := b.startStack(ctx, servers{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	serving, err := s.serve(ctx, "api,projector")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serving.stop()) }()
	body, err := threeTiers()
	if err != nil {
		return err
	}
	for _, clients := range []int{1, 4} {
		if err := b.validations(ctx, s, serving, body, clients); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) validations(ctx context.Context, s *stack, serving *service, body []byte, clients int) error {
	conns, hangUp, err := serving.dial(clients)
	if err != nil {
		return err
	}
	defer hangUp()
	name := fmt.Sprintf("topology/validate, 4,096 ranks in three tiers, %s", plural(clients, "client"))
	got, costs, err := b.under(ctx, s, services{serving}, name, plan{warm: b.warm, run: b.run}, each(conns, func(_ int, c *conn) client {
		return client{do: func() error {
			_, err := c.want(http.StatusOK, "POST", "/api/v1/topology/validate", body)
			return err
		}}
	}))
	if err != nil {
		return err
	}
	f := of(name, got, "p99 ≤ 50 ms")
	f.CPU = costs
	empty, err := s.emptyLimit(ctx, clients, "POST", body, b.limit)
	b.report.add(f, empty)
	return err
}

// threeTiers returns the request body: the document of a simple submission.
func threeTiers() ([]byte, error) {
	simple, _, err := presets.NewSimple(
		&topology.Constraints{SwitchRadix: "64x800G", SubscriptionRatio: "1:1"},
		&collective.Workload{Ranks: 4096, Phases: []collective.Phase{{OperationType: "allReduce", DataSize: 1 << 20}}}, nil)
	if err != nil {
		return nil, err
	}
	d, err := simple.Document()
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Applications []document.Application `json:"applications"`
		Components   []document.Component   `json:"components"`
		Containers   []document.Container   `json:"containers"`
		Links        []document.Component   `json:"links"`
		Topology     document.Topology      `json:"topology"`
	}{d.Applications, d.Components, d.Containers, d.Links, d.Topology})
}
