package api

import "time"

const (
	timestampFormat = "2006-01-02T15:04:05.000Z"
	timestampRoom   = len(timestampFormat) + 8 // quotes, and the nanoseconds before AppendFormat cuts them
)

// Timestamp is an instant in the form of completions.md section 1.2: RFC 3339,
// formatted in UTC with milliseconds and Z, parsed with any offset and precision.
type Timestamp struct{ time.Time }

// MarshalText formats the instant, truncated to milliseconds.
func (t Timestamp) MarshalText() ([]byte, error) {
	return t.UTC().AppendFormat(make([]byte, 0, timestampRoom), timestampFormat), nil
}

// UnmarshalText parses an RFC 3339 timestamp.
func (t *Timestamp) UnmarshalText(text []byte) error {
	parsed, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return err
	}
	t.Time = parsed
	return nil
}

// Bind parses a query parameter. Without this method the generated server treats the
// struct as a date.
func (t *Timestamp) Bind(text string) error { return t.UnmarshalText([]byte(text)) }

// MarshalJSON formats the instant as MarshalText does, in quotes.
func (t Timestamp) MarshalJSON() ([]byte, error) {
	return t.UTC().AppendFormat(make([]byte, 0, timestampRoom), `"`+timestampFormat+`"`), nil
}

// UnmarshalJSON parses a JSON string as UnmarshalText does; null leaves t unchanged.
func (t *Timestamp) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	if len(data) < 2 || data[0] != '"' {
		return &time.ParseError{Layout: time.RFC3339Nano, Value: string(data)}
	}
	return t.UnmarshalText(data[1 : len(data)-1])
}
