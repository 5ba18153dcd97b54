package public

import (
	"net/url"
	"strconv"

	"netsim/events"
	"netsim/infra/facts"
)

const (
	specVersion = "1.0"
	source      = "/netsim"
	contentType = "application/json"
)

// Message returns the fact in binary mode: the key is its stream, the value its data
// as it is stored, and the headers are those of Attributes. The topic is the one of
// the log that the fact was read from. The value shares memory with the fact's record.
func Message(f *facts.Fact, topic string) events.Message {
	w := headers{buf: make([]byte, 0, 640), list: make([]events.Header, 0, 20)}
	w.text("ce_specversion", specVersion)
	w.text("ce_id", f.ID)
	w.text("ce_source", source)
	w.text("ce_type", f.Type)
	w.text("ce_subject", f.Stream)
	w.add("ce_time", f.Time.UTC().AppendFormat(w.buf, events.TimeLayout))
	w.text("content-type", contentType)
	w.add("ce_dataschema", appendSchema(w.buf, &f.Frame))
	w.integer("ce_sequence", f.Sequence)
	w.text("ce_partitionkey", f.PartitionKey)
	w.optional("ce_commandid", f.CommandID)
	w.optional("ce_actor", f.Actor)
	w.optional("ce_correlationid", f.CorrelationID)
	w.optional("ce_causeid", f.CauseID)
	w.integer("ce_dataversion", int64(f.DataVersion))
	w.add("ce_recordedtime", f.RecordedAt.UTC().AppendFormat(w.buf, events.TimeLayout))
	w.text("ce_hash", f.Hash.String())
	w.text(SourceTopic, topic)
	w.integer(SourcePartition, int64(f.Partition))
	w.integer(SourceOffset, f.Offset)
	return events.Message{Key: []byte(f.Stream), Value: f.Record.Value, Headers: w.list}
}

// appendSchema appends the path of the data's JSON Schema.
func appendSchema(dst []byte, f *events.Frame) []byte {
	dst = append(dst, "/schemas/"...)
	if events.Known(f.Type) {
		dst = append(dst, f.Type...)
	} else {
		dst = append(dst, url.PathEscape(f.Type)...)
	}
	dst = append(dst, '/')
	return strconv.AppendInt(dst, int64(f.DataVersion), 10)
}

// headers is a list of headers whose values are in one buffer.
type headers struct {
	buf  []byte
	list []events.Header
}

// add adds a header whose value was appended to the buffer.
func (h *headers) add(key string, grown []byte) {
	h.list = append(h.list, events.Header{Key: key, Value: grown[len(h.buf):len(grown):len(grown)]})
	h.buf = grown
}

func (h *headers) text(key, value string) { h.add(key, append(h.buf, value...)) }

func (h *headers) integer(key string, value int64) { h.add(key, strconv.AppendInt(h.buf, value, 10)) }

func (h *headers) optional(key, value string) {
	if value != "" {
		h.text(key, value)
	}
}
