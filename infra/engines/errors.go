package engines

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// Unreachable says that an engine did not answer in time.
type Unreachable struct{ Cause error }

func (e *Unreachable) Error() string { return "the engine does not answer: " + e.Cause.Error() }

func (e *Unreachable) Unwrap() error { return e.Cause }

// Answered is an answer with a status outside 2xx.
type Answered struct {
	Status  int
	Message string // the engine's message, one line of at most 500 characters; may be ""
}

func (e *Answered) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("the engine answers with status %d", e.Status)
	}
	return fmt.Sprintf("the engine answers with status %d: %s", e.Status, e.Message)
}

// Garbled is an answer that breaks the protocol.
type Garbled struct{ Cause error }

func (e *Garbled) Error() string {
	return "the engine does not keep to the protocol: " + e.Cause.Error()
}

func (e *Garbled) Unwrap() error { return e.Cause }

// Refused says that an engine can never run the order, and why.
type Refused struct{ Reason string }

func (e *Refused) Error() string { return "the engine refuses the run: " + e.Reason }

func garbled(format string, args ...any) error { return &Garbled{fmt.Errorf(format, args...)} }

// answered returns the error of an answer outside 2xx, with the message in its body.
func answered(status int, text []byte) error {
	var body struct {
		Error struct{ Message string }
	}
	if json.Unmarshal(text, &body) != nil {
		return &Answered{Status: status}
	}
	return &Answered{Status: status, Message: oneLine(body.Error.Message, maxMessage)}
}

const maxMessage = 500 // characters

// oneLine replaces control characters, such as line ends, by spaces and cuts the
// text to limit characters.
func oneLine(text string, limit int) string {
	text = strings.ToValidUTF8(text, "?")
	clean := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	runes := []rune(strings.TrimSpace(clean))
	if len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return string(runes)
}
