package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// counts are what the processes of the service have done so far, summed over them, by
// the names of the columns of the third table. Unlike times they depend little on what
// else runs on the machine.
type counts map[string]float64

// counted are the columns, in order, with the metrics that they sum.
var counted = []struct {
	name   string
	metric string // or the beginning of a line of it, with labels
	not    string // lines with this label are left out
}{
	{"batches", "netsim_projector_batch_records_count", ""},
	{"records judged", "netsim_projector_records_total", ""},
	{"not facts", "netsim_projector_records_total", `verdict="accepted"`},
	{"attempts of commands", "netsim_command_attempts_total", ""},
	{"database calls", "db_client_operation_duration_seconds_count", ""},
	{"produces", `netsim_log_requests_total{api="Produce"`, ""},
	{"fetches", `netsim_log_requests_total{api="Fetch"`, ""},
}

// counts reads the metrics of the services.
func (all services) counts(ctx context.Context) (counts, error) {
	sum := counts{}
	for _, s := range all {
		if s.ops == "" { // not the service
			continue
		}
		if err := sum.scrape(ctx, "http://"+s.ops+"/metrics"); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

func (c counts) scrape(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // the body was read
	return c.read(resp.Body)
}

// read adds metrics in Prometheus' text format.
func (c counts) read(text io.Reader) error {
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		line := lines.Text()
		for _, column := range counted {
			rest, is := strings.CutPrefix(line, column.metric)
			if !is || rest == "" || !strings.ContainsRune("{, }", rune(rest[0])) || column.not != "" && strings.Contains(rest, column.not) {
				continue
			}
			value, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
			if err != nil {
				return fmt.Errorf("read the metrics: line %q: %w", line, err)
			}
			c[column.name] += value
		}
	}
	return lines.Err()
}

// since returns the counts per operation since an earlier moment, without those that the
// services do not have.
func (c counts) since(before counts, operations int) counts {
	per := counts{}
	for name, value := range c {
		per[name] = (value - before[name]) / float64(max(operations, 1))
	}
	return per
}
