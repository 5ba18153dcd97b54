package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Data is the data of an event: a struct of this package.
type Data interface {
	// EventType is the name on the wire, such as netsim.simulation.started.v1.
	EventType() string
}

// Event is an event with its frame, hash and decoded data.
type Event struct {
	Frame
	Hash Hash
	Data Data
}

// ErrUnknownType is wrapped by Decode's error for a type that this release
// does not know.
var ErrUnknownType = errors.New("unknown event type")

// entry is one type and version of events in the log.
type entry struct {
	zero   Data
	decode func(value []byte) (Data, error)
}

func of[T Data]() entry {
	var zero T
	return entry{zero, decoder[T]()}
}

// registry lists every type and version that was ever written, in the order of
// the catalogue. None is ever removed.
func registry() []entry {
	return slices.Concat(
		workspaceEvents(),
		webhookEvents(),
		configurationEvents(),
		simulationEvents(),
		studyEvents(),
		uploadEvents(),
		tracesetEvents(),
		mappingFileEvents(),
		billingEvents(),
		[]entry{of[AccountQuotasSet](), of[CheckpointPublished](), of[LogLossAccepted](), of[LogMoved](), of[LogSealed](), of[OperationBegun](), of[OperationEnded]()},
	)
}

// Types returns one empty value of every registered type, in catalogue order.
func Types() []Data {
	var types []Data
	for _, e := range registry() {
		types = append(types, e.zero)
	}
	return types
}

var decoders = sync.OnceValue(func() map[string]func([]byte) (Data, error) {
	byType := map[string]func([]byte) (Data, error){}
	for _, e := range registry() {
		byType[e.zero.EventType()] = e.decode
	}
	return byType
})

// Decode reads an event's data. A type that is not registered is ErrUnknownType;
// its stream is parked until a release knows the type.
func Decode(eventType string, value []byte) (Data, error) {
	read, ok := decoders()[eventType]
	if !ok {
		return nil, fmt.Errorf("%w %q", ErrUnknownType, eventType)
	}
	return read(value)
}

// Known reports whether a type is registered.
func Known(eventType string) bool { return decoders()[eventType] != nil }

// Encode returns an event's data as the value of a record.
func Encode(d Data) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(d); err != nil {
		return nil, fmt.Errorf("encode %s: %w", d.EventType(), err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
