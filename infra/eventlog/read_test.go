package eventlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"netsim/events"
	"netsim/internal/testwait"
)

// produceAt appends one batch with the producer's time at, and returns the broker's
// response.
func produceAt(t *testing.T, k *Kafka, topic string, at time.Time, messages ...events.Message) *kafka.ProduceResponse {
	t.Helper()
	batch := make([]*Pending, len(messages))
	for i, m := range messages {
		batch[i] = &Pending{message: m}
	}
	set := appendBatch(make([]byte, 4), batch, at)
	binary.BigEndian.PutUint32(set, uint32(len(set)-4))
	res, err := k.client.RawProduce(t.Context(), &kafka.RawProduceRequest{
		Topic: topic, RequiredAcks: kafka.RequireAll, RawRecords: protocol.RawRecordSet{Reader: bytes.NewReader(set)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if res.Error != nil {
		t.Fatal(res.Error)
	}
	return res
}

func readFromAnywhere(t *testing.T, c Config) {
	k := open(t, c)
	topic := k.Topic(events.Simulations)
	// Three batches of three records.
	for b := range 3 {
		produceAt(t, k, topic, time.Now(), message(fmt.Sprint(3*b)), message(fmt.Sprint(3*b+1)), message(fmt.Sprint(3*b+2)))
	}
	for from := range int64(9) {
		// One byte is less than a batch, and Read still returns a whole batch.
		for _, maxBytes := range []int{1, 1 << 20} {
			records, end, err := k.Read(t.Context(), topic, 0, from, maxBytes, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if end != 9 || len(records) == 0 || records[0].Offset != from || nameOf(&records[0]) != fmt.Sprint(from) {
				t.Fatalf("read from %d: %s and end %d, want %d first and end 9", from, namesOf(records), end, from)
			}
		}
	}
}

func readWaits(t *testing.T, c Config) {
	k := open(t, c)
	topic := k.Topic(events.Simulations)
	type answer struct {
		records []events.Record
		err     error
	}
	read := make(chan answer)
	go func() {
		records, _, err := k.Read(t.Context(), topic, 0, 0, 1<<20, 5*time.Minute)
		read <- answer{records, err}
	}()
	await(t, k.Append(topic, 0, message("awaited")))
	got := testwait.Receive(t, read, "the read")
	if got.err != nil || namesOf(got.records) != "awaited" {
		t.Errorf("got %q, %v; want %q", namesOf(got.records), got.err, "awaited")
	}
}

func readReturnsHighWater(t *testing.T, c Config) {
	k := open(t, c)
	topic := k.Topic(events.Simulations)
	for want := range int64(3) {
		records, end, err := k.Read(t.Context(), topic, 0, want, 1<<20, 0)
		if err != nil || len(records) != 0 || end != want {
			t.Fatalf("read at the end: %d records, end %d, %v; want none and end %d", len(records), end, err, want)
		}
		await(t, k.Append(topic, 0, message("x")))
	}
}

func readOutside(t *testing.T, c Config) {
	k := open(t, c)
	await(t, k.Append(k.Topic(events.Billing), 0, message("only")))
	if _, end, err := k.Read(t.Context(), k.Topic(events.Billing), 0, 2, 1<<20, 0); !errors.Is(err, ErrOutOfRange) || end != 1 {
		t.Errorf("read after the end: end %d, %v; want end 1 and ErrOutOfRange", end, err)
	}
	if _, _, err := k.Read(t.Context(), k.Topic(events.Billing), 99, 0, 1<<20, 0); !errors.Is(err, ErrNoTopic) {
		t.Errorf("read of a missing partition: %v, want ErrNoTopic", err)
	}
	if _, _, err := k.Read(t.Context(), "no-such-topic", 0, 0, 1<<20, 0); !errors.Is(err, ErrNoTopic) {
		t.Errorf("read of a missing topic: %v, want ErrNoTopic", err)
	}
}

// A record has the broker's time of append. Only the embedded broker ignores that
// topic setting and keeps the producer's time.
func timeIsTheBrokers(t *testing.T, c Config) {
	k := open(t, c)
	topic := k.Topic(events.Simulations)
	forged := time.Date(2001, 9, 9, 1, 46, 40, 0, time.UTC)
	res := produceAt(t, k, topic, forged, message("a"), message("b"))
	want := res.LogAppendTime
	if !onApache() {
		want = forged
	}
	for _, r := range readAll(t, k, topic, 0, 2) {
		if !r.Time.Equal(want) || r.Time.Location() != time.UTC {
			t.Errorf("record %d has time %v, want %v", r.Offset, r.Time, want)
		}
	}
	if onApache() && want.Equal(forged) {
		t.Errorf("the record has the producer's time %v, want the broker's", want)
	}
}

func readsCompressed(t *testing.T, c Config) {
	k := open(t, c)
	topic := k.Topic(events.Simulations)
	want := ""
	for _, codec := range []kafka.Compression{kafka.Gzip, kafka.Snappy, kafka.Lz4, kafka.Zstd} {
		var records []kafka.Record
		for i := range 3 {
			name := fmt.Sprintf("%s-%d", codec, i)
			records = append(records, kafka.Record{Value: kafka.NewBytes([]byte(name))})
			want += name + " "
		}
		res, err := k.client.Produce(t.Context(), &kafka.ProduceRequest{
			Topic: topic, RequiredAcks: kafka.RequireAll, Compression: codec, Records: kafka.NewRecordReader(records...),
		})
		if err != nil {
			t.Fatal(err)
		}
		if res.Error != nil {
			t.Fatal(res.Error)
		}
	}
	if got := namesOf(readAll(t, k, topic, 0, 12)) + " "; got != want {
		t.Errorf("read %s, want %s", got, want)
	}
}
