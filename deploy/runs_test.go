//go:build deploy

package deploy

import (
	"testing"

	"netsim/internal/teststack"
)

// TestRuns runs the deployments one after the other on one cluster of Apache Kafka, with
// topics, a database and a bucket of their own.
func TestRuns(t *testing.T) {
	brokers = teststack.KafkaCluster(t)
	t.Run("chart", testChartRuns)
	t.Run("compose", testComposeRuns)
	t.Run("units", testUnitsRun)
}
