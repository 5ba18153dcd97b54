package main

import (
	"fmt"
	"os"
	"strconv"

	"netsim/simulator/calibration"
)

type calibrate struct {
	Log string `arg:"" type:"existingfile" help:"What all_reduce_perf, all_gather_perf, reduce_scatter_perf or alltoall_perf of nccl-tests printed, at most 4 MiB."`
}

// Run prints the fit, the parameters that follow from it and the residuals.
func (c calibrate) Run() error {
	file, err := os.Open(c.Log)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it was only read
	log, err := calibration.Read(file)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Log, err)
	}
	fit, err := calibration.Calibrate(log)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Log, err)
	}
	fmt.Printf("%d ranks, %d steps of a ring: %.3f us a step, %.1f Gb/s a rank\n", fit.Ranks, fit.Steps, fit.Latency, fit.Bandwidth)
	fmt.Printf("residuals: median %.1f %%, worst %.1f %%\n", fit.Median, fit.Worst)
	fmt.Printf("parameters: a DataRate of %.1f Gb/s; a TransmissionMedium.Delay of %.0f ns in one rack (2 hops), %.0f ns over a spine (4 hops)\n\n",
		fit.Bandwidth, 1000*fit.Latency/4, 1000*fit.Latency/8)
	var rows [][]string
	for _, r := range fit.Rows {
		place := "out"
		if r.InPlace {
			place = "in"
		}
		rows = append(rows, []string{strconv.FormatInt(r.Bytes, 10), place, fmt.Sprintf("%.2f", r.Measured), fmt.Sprintf("%.2f", r.Fitted), fmt.Sprintf("%+.1f", r.Residual)})
	}
	return printTable("", "BYTES PLACE MEASURED_US FITTED_US RESIDUAL_%", rows)
}
