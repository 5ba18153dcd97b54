package contract

import (
	"bytes"
	"errors"
	"fmt"
)

// eventStream is the media type of server-sent events; its schema is that of
// the data of each.
const eventStream = "text/event-stream"

// checkEvents returns how a whole stream of events breaks the contract.
func (s *schema) checkEvents(body []byte) error {
	for block := range bytes.SplitSeq(body, []byte("\n\n")) {
		var data []byte
		for line := range bytes.SplitSeq(block, []byte("\n")) {
			name, value, _ := bytes.Cut(line, []byte(":"))
			switch string(name) {
			case "", "id", "event", "retry":
			case "data":
				data = append(append(data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
			default:
				return fmt.Errorf("an event has the field %q", name)
			}
		}
		if data == nil {
			continue
		}
		value, err := decode(data)
		if err != nil {
			return err
		}
		if found := s.check(value, true); found != nil {
			return errors.New(found.message("the data of an event"))
		}
	}
	return nil
}
