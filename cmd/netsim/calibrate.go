package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"netsim/simulator/calibration"
	simulated "netsim/simulator/engine"
)

type calibrate struct {
	Log    string `arg:"" type:"existingfile" help:"What all_reduce_perf, all_gather_perf, reduce_scatter_perf or alltoall_perf of nccl-tests printed, at most 4 MiB."`
	MSS    int64  `help:"The Transport.MSS of the NICs to which the parameters will be applied, in bytes." default:"4096" placeholder:"BYTES"`
	Header int64  `help:"Their Transport.HeaderSize, in bytes." default:"58" placeholder:"BYTES"`
}

// Validate implements kong.Validatable.
func (c calibrate) Validate() error {
	if c.MSS < 1 || c.Header < 0 {
		return fmt.Errorf("--mss must be at least 1 and --header at least 0, got %d and %d", c.MSS, c.Header)
	}
	return nil
}

// Run prints the fit, the parameters that follow from it and the residuals. It warns of a log
// that one line does not fit.
func (c calibrate) Run(ctx context.Context) error {
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
	if said := fit.Misfit(); said != "" {
		fmt.Fprintf(os.Stderr, "warning: %s\n", said)
	}
	fmt.Printf("%d ranks, %d steps of a ring: %.3f us a step, %.1f Gb/s of payload a rank\n", fit.Ranks, fit.Steps, fit.Latency, fit.Bandwidth)
	fmt.Printf("residuals: median %.1f %%, worst %.1f %%\n\n", fit.Median, fit.Worst)
	if err := c.networks(ctx, &fit); err != nil {
		return fmt.Errorf("%s: %w", c.Log, err)
	}
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

// networks prints the parameters of links with which rings take the times of the log.
func (c calibrate) networks(ctx context.Context, fit *calibration.Fit) error {
	packet := simulated.DefaultPacket()
	packet.MSS, packet.Header = c.MSS, c.Header
	fmt.Printf("a DataRate and a TransmissionMedium.Delay of all links with which rings take the times of the log, at an MSS of %d B and headers of %d B:\n", c.MSS, c.Header)
	var rows [][]string
	for _, in := range []struct {
		ranks string
		hops  int
	}{{"in one rack", 2}, {"each in a rack of its own, over a spine", 4}} {
		n, err := fit.Network(ctx, in.hops, packet)
		if err != nil {
			return err
		}
		rows = append(rows, []string{in.ranks, strconv.Itoa(in.hops), fmt.Sprintf("%.6g", float64(n.Rate)/1e9), fmt.Sprintf("%.1f", float64(n.Delay)/1000), fmt.Sprintf("%.1f", n.Worst)})
	}
	if err := printTable("", "RANKS HOPS DATARATE_GBPS DELAY_NS WORST_RESIDUAL_%", rows); err != nil {
		return err
	}
	fmt.Println()
	return nil
}
