package commands

import (
	"maps"
	"slices"
	"strings"

	"netsim/fault"
)

// The quotas of an account that are counted over all processes. The others are
// counted in each process, at the API's entrance (package web).
const (
	QuotaRuns    = "runs.unfinished" // runs that are validating, provisioning or running
	QuotaRunning = "runs.running"    // runs that a worker has; further runs wait
	QuotaStudies = "studies.running" // studies that start points
	QuotaUploads = "uploads.day"     // uploads begun since midnight UTC
	QuotaStorage = "storage.bytes"   // bytes that storage is billed for, and those of open uploads
)

// DefaultQuotas returns every quota with the limit that applies unless the
// settings or an operator set another. The limits protect the service from faulty
// clients, and are far above what a busy account needs.
func DefaultQuotas() map[string]int64 {
	return map[string]int64{
		"requests.read":    20_000, // a second, in each process
		"requests.write":   20_000,
		"requests.heavy":   1_000,
		"requests.stream":  1_000,
		"requests.upload":  1_000,
		"requests.content": 1_000,
		"streams.open":     250, // in each process
		QuotaRuns:          10_000,
		QuotaRunning:       AllWorkersButOne,
		QuotaStudies:       10,
		QuotaUploads:       10_000,
		QuotaStorage:       10_000_000_000_000,
	}
}

// CheckQuota returns an error for an unknown quota, and for a limit that is out
// of range.
func CheckQuota(name string, limit int64) error {
	known := DefaultQuotas()
	if _, ok := known[name]; !ok {
		return fault.New(fault.Validation, "quota %q is unknown: %s are known", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	if limit < 0 || limit > maxQuota {
		return fault.New(fault.Validation, "quota %s must be between 0 and %d, got %d", name, maxQuota, limit)
	}
	return nil
}

// AllWorkersButOne is the default of QuotaRunning: all workers for runs, of all processes, but
// one, or the only one.
const AllWorkersButOne = maxQuota

// maxQuota is the largest integer that a header can hold (RFC 9651).
const maxQuota = 999_999_999_999_999
