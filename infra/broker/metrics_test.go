package broker

import (
	"testing"

	"github.com/IBM/sarama"
)

// A client of sarama keeps no metrics, also after requests.
func TestSaramaKeepsNoMetrics(t *testing.T) {
	t.Parallel()
	server := sarama.NewMockBroker(t, 1)
	defer server.Close()
	server.SetHandlerByMap(map[string]sarama.MockResponse{
		"MetadataRequest": sarama.NewMockMetadataResponse(t).SetBroker(server.Addr(), server.BrokerID()),
	})
	c := sarama.NewConfig()
	c.ApiVersionsRequest = false
	(*Connector)(nil).Configure(c)
	client, err := sarama.NewClient([]string{server.Addr()}, c)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	c.MetricRegistry.Each(func(name string, _ any) { t.Errorf("the metric %s is kept", name) })
}
