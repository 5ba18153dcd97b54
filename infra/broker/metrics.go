package broker

import "github.com/rcrowley/go-metrics"

// noMetrics is a registry that keeps none of sarama's metrics. Nothing reads them here, and
// each of a client's histograms holds a reservoir, for each broker and topic.
type noMetrics struct{ metrics.Registry }

// GetOrRegister implements metrics.Registry for the kinds of metrics that sarama has.
func (n noMetrics) GetOrRegister(name string, metric any) any {
	switch metric.(type) {
	case func() metrics.Histogram:
		return metrics.NilHistogram{}
	case func() metrics.Meter:
		return metrics.NilMeter{}
	case func() metrics.Counter:
		return metrics.NilCounter{}
	}
	return n.Registry.GetOrRegister(name, metric)
}
