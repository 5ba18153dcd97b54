package public

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"netsim/events"
	"netsim/infra/facts"
)

// AppendJSON appends the fact in structured mode to dst: one line of JSON without the
// line feed. The member data has the event's data as it is stored. Data that is not
// JSON in UTF-8 is in data_base64 instead.
func AppendJSON(dst []byte, f *facts.Fact, topic string) []byte {
	dst = append(dst, `{"specversion":"`+specVersion+`"`...)
	dst = appendMember(dst, "id", f.ID)
	dst = append(dst, `,"source":"`+source+`"`...)
	dst = appendMember(dst, "type", f.Type)
	dst = appendMember(dst, "subject", f.Stream)
	dst = append(dst, `,"time":"`...)
	dst = f.Time.UTC().AppendFormat(dst, events.TimeLayout)
	dst = append(dst, `","datacontenttype":"`+contentType+`","dataschema":"`...)
	dst = appendSchema(dst, &f.Frame)
	dst = append(dst, `","sequence":"`...)
	dst = strconv.AppendInt(dst, f.Sequence, 10)
	dst = append(dst, '"')
	dst = appendMember(dst, "partitionkey", f.PartitionKey)
	dst = appendMember(dst, "commandid", f.CommandID)
	dst = appendMember(dst, "actor", f.Actor)
	dst = appendMember(dst, "correlationid", f.CorrelationID)
	dst = appendMember(dst, "causeid", f.CauseID)
	dst = append(dst, `,"dataversion":`...)
	dst = strconv.AppendInt(dst, int64(f.DataVersion), 10)
	dst = append(dst, `,"recordedtime":"`...)
	dst = f.RecordedAt.UTC().AppendFormat(dst, events.TimeLayout)
	dst = append(dst, '"')
	dst = appendMember(dst, "hash", f.Hash.String())
	dst = appendMember(dst, "sourcetopic", topic)
	dst = append(dst, `,"sourcepartition":`...)
	dst = strconv.AppendInt(dst, int64(f.Partition), 10)
	dst = append(dst, `,"sourceoffset":"`...)
	dst = strconv.AppendInt(dst, f.Offset, 10)
	dst = append(dst, '"')
	return append(appendData(dst, f), '}')
}

// appendMember appends a member whose value is printable ASCII without spaces, and
// nothing for "".
func appendMember(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(dst, `,"`...)
	dst = append(dst, name...)
	dst = append(dst, `":"`...)
	for i := range len(value) {
		if c := value[i]; c == '"' || c == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, value[i])
	}
	return append(dst, '"')
}

func appendData(dst []byte, f *facts.Fact) []byte {
	value := f.Record.Value
	// What was decoded is JSON.
	if f.Err != nil && !json.Valid(value) || !utf8.Valid(value) {
		dst = append(dst, `,"data_base64":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, value)
		return append(dst, '"')
	}
	dst = append(dst, `,"data":`...)
	if bytes.ContainsAny(value, "\r\n") { // between tokens; the service writes none
		out := bytes.NewBuffer(dst)
		if err := json.Compact(out, value); err == nil {
			return out.Bytes()
		}
	}
	return append(dst, value...)
}
