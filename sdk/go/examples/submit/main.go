// Command submit simulates an allReduce of 8 ranks and prints its time and its cost.
package main

import (
	"context"
	"fmt"
	"log"

	netsim "netsim/sdk/go"
	"netsim/sdk/go/api"
)

func main() {
	ctx := context.Background()
	client, err := netsim.New(netsim.Config{}) // NETSIM_URL and NETSIM_TOKEN
	if err != nil {
		log.Fatal(err)
	}
	run, err := client.SubmitAndWait(ctx, api.SimpleSubmission{Workload: &api.SimpleWorkload{
		Ranks:  8,
		Phases: []api.SimplePhase{{OperationType: "allReduce", DataSize: 1 << 20}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	if err := netsim.Failed(run); err != nil {
		log.Fatal(err)
	}
	results, err := client.GetResults(ctx, run.ID, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("time:", results.Duration)
	costs, err := client.Costs(ctx, run)
	if err != nil {
		log.Fatal(err)
	}
	for _, cost := range costs {
		fmt.Println("cost:", cost.Cost, cost.CostCurrency)
	}
}
