package events

// The headers of a record's trace context, as in the W3C recommendation "Trace
// Context". They are outside the hash, and no reader needs them. Neither their
// presence nor their values change a record's verdict.
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
