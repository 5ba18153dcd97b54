// Package charts lists the charts that the simulation UI draws from result
// files. They ship with the program.
//
// Source: completions.md sections 2.2 (definitions) and 5.6 (records and their
// columns).
package charts

// SchemaVersion is the version of the schema of definitions. It is raised when a
// field changes its meaning.
const SchemaVersion = 1

// Definition says how one chart is drawn from the rows of one record.
type Definition struct {
	ID          string // slug
	Title       string
	Description string
	Kind        string // line, bar, cdf, heatmap, table
	Record      string // name of the record, such as nd-stats
	Filters     []Filter
	X, Y        Axis
	GroupBy     []string // columns; the chart has a series for each combination of their values
}

// Filter keeps the rows whose value in Column satisfies the comparison Op with Value.
type Filter struct {
	Column string
	Op     string // eq, in, ge, le
	Value  any    // string or number; for in, a list of strings
}

// Axis is a column and how its values are aggregated.
type Axis struct {
	Column    string
	Label     string
	Unit      string // empty for plain numbers
	Aggregate string // none, sum, mean, max, p50, p99
}

// Definitions returns all definitions, ordered by id.
func Definitions() []Definition {
	seconds := Axis{Column: "sim_time_sec", Label: "Simulated time", Unit: "s", Aggregate: "none"}
	return []Definition{
		{
			ID: "collective-times", Title: "Collective run times", Kind: "bar", Record: "collective-percentiles",
			Description: "Median time from a collective's first transfer to its end, by message size.",
			Filters:     []Filter{{"count", "ge", 1}},
			X:           Axis{Column: "comm_size", Label: "Message size", Unit: "B", Aggregate: "none"},
			Y:           Axis{Column: "p50_run_time_us", Label: "Median run time", Unit: "us", Aggregate: "none"},
			GroupBy:     []string{"comm_type", "expansion_algo", "pg_size"},
		},
		{
			ID: "fct-cdf", Title: "Transfer completion times", Kind: "cdf", Record: "perf",
			Description: "Fraction of the transfers acknowledged within a time, by operation, group size and message size.",
			Filters:     []Filter{{"metric_name", "eq", "TransferFCT"}},
			X:           Axis{Column: "perf_metric_usec", Label: "Completion time", Unit: "us", Aggregate: "none"},
			Y:           Axis{Column: "perf_metric_usec", Label: "Fraction of transfers", Aggregate: "none"},
			GroupBy:     []string{"metric_path"},
		},
		{
			ID: "link-utilisation-by-tier", Title: "Link utilisation by tier", Kind: "line", Record: "nd-stats",
			Description: "Mean utilisation of the interfaces of a tier, upwards and downwards, over time.",
			Filters:     []Filter{{"component_type", "in", []string{"Switch", "Nic"}}},
			X:           seconds,
			Y:           Axis{Column: "tx_link_percent_util", Label: "Utilisation", Unit: "%", Aggregate: "mean"},
			GroupBy:     []string{"tier", "uldl"},
		},
		{
			ID: "progress-cdf", Title: "Progress", Kind: "line", Record: "progress-cdf",
			Description: "Fraction of the payload delivered so far, over time.",
			X:           seconds,
			Y:           Axis{Column: "send_bytes", Label: "Fraction of the payload", Aggregate: "none"},
		},
		{
			ID: "rank-completion", Title: "Rank completion", Kind: "cdf", Record: "rank-completion",
			Description: "Fraction of the ranks that ended within a time; ranks that did not end are left out.",
			Filters:     []Filter{{"finished", "eq", 1}},
			X:           Axis{Column: "completion_time_us", Label: "Completion time", Unit: "us", Aggregate: "none"},
			Y:           Axis{Column: "rank", Label: "Fraction of ranks", Aggregate: "none"},
		},
		{
			ID: "throughput-by-tier", Title: "Throughput by tier", Kind: "line", Record: "nd-stats",
			Description: "What the interfaces of a tier send in all, upwards and downwards, over time.",
			Filters:     []Filter{{"component_type", "in", []string{"Switch", "Nic"}}},
			X:           seconds,
			Y:           Axis{Column: "tx_rate_Gbps", Label: "Sent", Unit: "Gbps", Aggregate: "sum"},
			GroupBy:     []string{"tier", "uldl"},
		},
	}
}
