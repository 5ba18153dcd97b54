package settings

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTracesHonourWhatIsSet: trace variables of the specification that netsim does not
// support are refused. Variables for metrics and logs are ignored.
func TestTracesHonourWhatIsSet(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_INSECURE": "true", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "a=hidden-7", "OTEL_EXPORTER_OTLP_CERTIFICATE": "/ca",
		"OTEL_BSP_EXPORT_TIMEOUT": "1", "OTEL_SPAN_LINK_COUNT_LIMIT": "1", "OTEL_TRACES_SOMETHING": "new",
	} {
		if said, want := wrong(t, map[string]string{name: value}), name+" is set: netsim does not honour it"; !strings.Contains(said, want) {
			t.Errorf("%s gives the error %q, want %q", name, said, want)
		}
	}
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://host", "OTEL_METRICS_EXPORTER": "none", "OTEL_EXPORTER_OTLP_INSECURE": "",
	} {
		if said := wrong(t, map[string]string{name: value}); said != "" {
			t.Errorf("%s gives the error %q, want none", name, said)
		}
	}
}

func TestEndpointOfTraces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		environment map[string]string
		want        string
	}{
		{nil, ""},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://host:4318/"}, "http://host:4318/v1/traces"},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://host:4318", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://other/t"}, "https://other/t"},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://host:4318", "OTEL_SDK_DISABLED": "true"}, ""},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://host:4318", "OTEL_TRACES_EXPORTER": "none"}, ""},
	} {
		environment := required()
		for name, value := range c.environment {
			environment[name] = value
		}
		config, err := FromVariables(environment)
		if err != nil || config.TracesURL() != c.want {
			t.Errorf("%v: traces go to %q, want %q: %v", c.environment, config.TracesURL(), c.want, err)
		}
	}
	pairs, err := readPairs("api-key=a%2Cb, x = y=z ,")
	if diff := cmp.Diff(map[string]string{"api-key": "a,b", "x": "y=z"}, pairs); diff != "" || err != nil {
		t.Errorf("pairs (-want +got):\n%s%v", diff, err)
	}
}
