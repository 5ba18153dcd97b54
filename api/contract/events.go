package contract

import (
	"bytes"
	"errors"
	"fmt"
)

// eventStream is the media type of server-sent events. Its schema describes each
// event as an object of the event's fields.
const eventStream = "text/event-stream"

// checkEvents returns an error if a complete event stream violates the contract.
func (s *schema) checkEvents(body []byte) error {
	for block := range bytes.SplitSeq(body, []byte("\n\n")) {
		event := map[string]any{}
		for line := range bytes.SplitSeq(block, []byte("\n")) {
			field, text, _ := bytes.Cut(line, []byte(":"))
			name, value := string(field), string(bytes.TrimPrefix(text, []byte(" ")))
			switch name {
			case "", "retry":
			case "id", "event":
				event[name] = value
			case "data":
				if before, more := event[name].(string); more {
					value = before + "\n" + value
				}
				event[name] = value
			default:
				return fmt.Errorf("an event has the field %q", name)
			}
		}
		if len(event) == 0 {
			continue
		}
		if found := s.check(event, true); found != nil {
			return errors.New(found.message("the event"))
		}
	}
	return nil
}
