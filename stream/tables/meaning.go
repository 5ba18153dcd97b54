package tables

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// meanings says what event types and the members of their data mean. It is generated
// (stream/contracts) from their Go comments.
//
//go:embed meanings.txt
var meaningsText string

// meanings returns the meanings by type and member; "-" is the type itself.
var meanings = sync.OnceValue(func() map[[2]string]string {
	all := map[[2]string]string{}
	for line := range strings.Lines(meaningsText) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		all[[2]string{parts[0], parts[1]}] = parts[2]
	}
	return all
})

// MeaningOf returns when an event of a type is recorded: "Records that …".
func MeaningOf(eventType string) string { return meanings()[[2]string{eventType, "-"}] }

// frameMeaning returns what a column of the frame or of the position means.
func frameMeaning(name string) string {
	return map[string]string{
		"event_id": "a UUID", "type": "the event's type, such as `netsim.simulation.started.v1`", "stream": "id of the aggregate", "sequence": "1, 2, 3 … within the stream",
		"time": "when it happened", "recorded_at": "when the broker appended it", "partition_key": "workspace id, or account id where there is none",
		"actor": "a user's id, or `system`; nullable", "command_id": "nullable", "correlation_id": "the request; nullable", "cause_id": "id of the event that this one reacts to; nullable",
		"data_version": "of the data's schema", "event_hash": "SHA-256 in hex; the `eventHash` of billing", "source_partition": "where it is in the log", "source_offset": "where it is in the partition",
		"data": "the event's data, as it is stored",
	}[name]
}

// Comment says what a column means, and which event types have it.
func (c *Column) Comment() string {
	if len(c.Events) == 0 {
		return frameMeaning(c.Name)
	}
	var said, of []string
	for i, event := range c.Events {
		if i < len(c.members) {
			if text := meanings()[[2]string{event, c.members[i]}]; text != "" && !slices.Contains(said, text) {
				said = append(said, text)
			}
		}
		of = append(of, strings.TrimPrefix(event, "netsim."))
	}
	return strings.TrimSpace(strings.Join(said, "; ") + " (of " + strings.Join(of, ", ") + ")")
}
