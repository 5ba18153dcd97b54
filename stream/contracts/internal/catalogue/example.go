package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"netsim/events"
)

// readExample returns the example of a type's data, in which every member has a
// value.
func readExample(dir, name string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(dir, "testdata", "examples", name+".json"))
	if err != nil {
		return nil, fmt.Errorf("%s has no example: write one with a value for every member: %w", name, err)
	}
	return text, nil
}

// stream returns the id of a stream in which the type's events are.
func (t eventType) stream() string {
	aggregate := strings.Split(t.Name, ".")[1]
	prefix := map[string]string{
		"workspace": events.WorkspacePrefix, "webhook": events.WebhookPrefix, "configuration": events.ConfigurationPrefix, "simulation": events.SimulationPrefix, "study": events.StudyPrefix,
		"traceset": events.TracesetPrefix, "mapping_file": events.MappingFilePrefix, "upload": events.UploadPrefix,
		"billing": events.AccountPrefix, "operation": events.OperationPrefix,
	}[aggregate]
	switch {
	case t.Name == sealed:
		return events.SealStream(t.Family, 0, 1)
	case t.Name == (events.RateSet{}).EventType():
		return events.PlatformPrefix + "_netsim"
	case prefix == "":
		return events.CheckpointPrefix + "_netsim"
	case prefix == events.WorkspacePrefix:
		return exampleStream
	}
	return prefix + "_06f6k8z0ce4m7w1q9t2v5x0001"
}
