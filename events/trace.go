package events

// The headers that carry the trace of which a record is a part, as the W3C
// recommendation "Trace Context" has them. They are outside the hash and no
// reader needs them: a record is judged the same with them, without them, and
// with anything else in their values.
const (
	TraceParentHeader = "traceparent"
	TraceStateHeader  = "tracestate"
)

// Traced returns a message with a trace context; state may be "".
func Traced(m Message, parent, state string) Message {
	m.Headers = append(m.Headers[:len(m.Headers):len(m.Headers)], Header{TraceParentHeader, []byte(parent)})
	if state != "" {
		m.Headers = append(m.Headers, Header{TraceStateHeader, []byte(state)})
	}
	return m
}
