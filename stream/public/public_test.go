package public_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/infra/facts"
	"netsim/stream/public"
)

const topic = "netsim.workspaces"

// factOf returns the fact of a frame and its data.
func factOf(frame events.Frame, value string) *facts.Fact {
	m, _ := frame.Message([]byte(value))
	m.Headers = append(m.Headers, events.Header{Key: "traceparent", Value: []byte("00-1-2-01")},
		events.Header{Key: events.SealHeader, Value: []byte("seal")})
	f := facts.Decode(events.Workspaces, &events.Record{
		Message: m, Topic: topic, Partition: 3, Offset: 1 << 40, Time: time.UnixMilli(1_700_000_000_123),
	})
	return &f
}

func frame() events.Frame {
	return events.Frame{
		ID: "0190a000-0000-7000-8000-000000000001", Type: "netsim.workspace.updated.v1", Stream: "workspace_1", PartitionKey: "workspace_1",
		Sequence: 2, PreviousHash: events.Hash{1}, CommandID: "c-1", CommandDigest: "d", Time: time.UnixMilli(1_700_000_000_000),
		Actor: `u"\1`, CorrelationID: "r-1", CauseID: "e-0", DataVersion: 1,
	}
}

// Both modes have exactly the attributes of the table, in its order, with the
// same values.
func TestModesHaveTheAttributesOfTheTable(t *testing.T) {
	t.Parallel()
	bare := frame()
	bare.CommandID, bare.Actor, bare.CorrelationID, bare.CauseID = "", "", "", ""
	for name, fr := range map[string]events.Frame{"all": frame(), "no optional": bare} {
		f := factOf(fr, `{"name":"n"}`)
		if f.Err != nil {
			t.Fatal(f.Err)
		}
		var members map[string]any
		decoder := json.NewDecoder(bytes.NewReader(public.AppendJSON(nil, f, topic)))
		decoder.UseNumber()
		if err := decoder.Decode(&members); err != nil {
			t.Fatal(err)
		}
		var got, want []string
		m := public.Message(f, topic)
		for _, h := range m.Headers {
			got = append(got, h.Key+" "+string(h.Value))
		}
		for _, a := range public.Attributes() {
			value, ok := members[a.JSON]
			if !ok && a.Optional && name != "all" {
				continue
			}
			if _, number := value.(json.Number); number != a.Number {
				t.Errorf("%s: %s is %T", name, a.JSON, value)
			}
			want = append(want, fmt.Sprintf("%s %v", a.Header, value))
			delete(members, a.JSON)
		}
		delete(members, "data")
		if d := cmp.Diff(want, got); d != "" || len(members) > 0 {
			t.Errorf("%s: members that the table lacks: %v; headers by the table (-) and by Message (+):\n%s", name, members, d)
		}
		if string(m.Key) != f.Stream || !bytes.Equal(m.Value, f.Record.Value) {
			t.Errorf("%s: key %s value %s", name, m.Key, m.Value)
		}
		at, err := public.SourceOf(&m)
		if err != nil || at != (public.Source{Topic: topic, Partition: 3, Offset: 1 << 40}) {
			t.Errorf("%s: source %+v, %v", name, at, err)
		}
	}
}

// Data is embedded as it is stored if it is JSON, and never breaks the line.
func TestDataIsAsStored(t *testing.T) {
	t.Parallel()
	unknown := frame()
	unknown.Type = "netsim.new/type.v9"
	tests := map[string]struct {
		frame       events.Frame
		value, want string // want is "" for base64
	}{
		"known type":      {frame(), `{"name": "n",  "x":1.50}`, `{"name": "n",  "x":1.50}`},
		"line feeds":      {frame(), "{\"name\":\n\r\n\"n\"}", `{"name":"n"}`},
		"unknown type":    {unknown, `{"a":[]}`, `{"a":[]}`},
		"not JSON":        {frame(), `{"name":`, ""},
		"not UTF-8":       {frame(), "{\"name\":\"\xff\"}", ""},
		"unknown, binary": {unknown, "\x00\n", ""},
	}
	for name, tt := range tests {
		line := public.AppendJSON(nil, factOf(tt.frame, tt.value), topic)
		var got struct {
			Type       string
			DataSchema string
			Data       json.RawMessage
			Base64     string `json:"data_base64"`
		}
		if err := json.Unmarshal(line, &got); err != nil {
			t.Errorf("%s: %v in %s", name, err, line)
		}
		binary, err := base64.StdEncoding.DecodeString(got.Base64)
		if err != nil {
			t.Error(err)
		}
		if string(got.Data) != tt.want || tt.want == "" && string(binary) != tt.value {
			t.Errorf("%s: data %s, base64 of %q", name, got.Data, binary)
		}
		if bytes.ContainsAny(line, "\r\n") || got.Type != tt.frame.Type {
			t.Errorf("%s: %s", name, line)
		}
		if escaped := strings.ReplaceAll(tt.frame.Type, "/", "%2F"); got.DataSchema != "/schemas/"+escaped+"/1" {
			t.Errorf("%s: schema %s", name, got.DataSchema)
		}
	}
}

func TestSourceOfAForeignRecord(t *testing.T) {
	t.Parallel()
	header := func(key, value string) events.Header { return events.Header{Key: key, Value: []byte(value)} }
	for _, headers := range [][]events.Header{
		nil,
		{header(public.SourceTopic, "t"), header(public.SourcePartition, "1")},
		{header(public.SourceTopic, "t"), header(public.SourcePartition, "4294967296"), header(public.SourceOffset, "1")},
		{header(public.SourcePartition, "1"), header(public.SourceOffset, "1")},
	} {
		if at, err := public.SourceOf(&events.Message{Headers: headers}); err == nil {
			t.Errorf("%v has the source %+v", headers, at)
		}
	}
}

func BenchmarkMessage(b *testing.B) {
	f := factOf(frame(), `{"name":"n"}`)
	for b.Loop() {
		public.Message(f, topic)
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	f := factOf(frame(), `{"name":"n"}`)
	var buf []byte
	for b.Loop() {
		buf = public.AppendJSON(buf[:0], f, topic)
	}
}
