package netsim

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"
)

// message is a server-sent event. One that only moves the position has an id alone.
type message struct{ id, event, data string }

var errSilent = errors.New("the stream was silent for too long")

// stream opens a stream once and iterates over its messages. It ends with the stream, or with
// an error: a refusal, a cut, or silence longer than that of [Config].
func (c *Client) stream(ctx context.Context, open func(context.Context) (*http.Response, error)) iter.Seq2[message, error] {
	return func(yield func(message, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		response, err := open(context.WithValue(ctx, onceKey{}, true))
		if err != nil {
			yield(message{}, err)
			return
		}
		defer response.Body.Close()
		silence := time.AfterFunc(c.silence, func() { cancel(errSilent) })
		defer silence.Stop()
		for m, err := range messages(response.Body, func() { silence.Reset(c.silence) }) {
			if err != nil && errors.Is(context.Cause(ctx), errSilent) {
				err = errSilent
			}
			silence.Stop() // the caller may take its time
			if !yield(m, err) {
				return
			}
			silence.Reset(c.silence)
		}
	}
}

// messages reads server-sent events, and calls alive for each line. What is not closed by an
// empty line was cut and does not count.
func messages(body io.Reader, alive func()) iter.Seq2[message, error] {
	return func(yield func(message, error) bool) {
		lines := bufio.NewReader(body)
		var m message
		var data []string
		for {
			line, err := lines.ReadString('\n')
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(message{}, err)
				return
			}
			alive()
			line = strings.TrimRight(line, "\r\n")
			if line == "" {
				if m.data = strings.Join(data, "\n"); m != (message{}) && !yield(m, nil) {
					return
				}
				m, data = message{}, nil
				continue
			}
			name, value, _ := strings.Cut(line, ":")
			value = strings.TrimPrefix(value, " ")
			switch name {
			case "id":
				m.id = value
			case "event":
				m.event = value
			case "data":
				data = append(data, value)
			}
		}
	}
}
