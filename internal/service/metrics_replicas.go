package service

import (
	"netsim/infra/replicas"
	"netsim/infra/telemetry"
)

// observeReads returns the counters of reads with a token.
func observeReads(m *telemetry.Metrics) replicas.Observer {
	reads, retries := m.Counter("netsim_token_reads_total"), m.Counter("netsim_standby_retries_total")
	return replicas.Observer{
		Read:  func(source string) { reads(1, source) },
		Retry: func(reason string) { retries(1, reason) },
	}
}

// observeStandbys samples the state of each standby.
func observeStandbys(m *telemetry.Metrics, reads *replicas.Reads) {
	const (
		used = "netsim_standby_used"
		age  = "netsim_standby_age_seconds"
	)
	m.Sample(func(emit telemetry.Emit) {
		for _, r := range reads.Report() {
			value := 0.0
			if r.Used {
				value = 1
			}
			emit(used, value, r.Standby)
			emit(age, r.Age.Seconds(), r.Standby)
		}
	}, used, age)
}
