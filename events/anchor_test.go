package events_test

import (
	"testing"

	"netsim/events"
)

// An anchor's text is read back as it was, and no other text is one.
func TestAnchorsHaveOneText(t *testing.T) {
	t.Parallel()
	record := events.Record{Message: events.Message{Key: []byte("k"), Value: []byte("v"), Headers: []events.Header{{Key: "h", Value: []byte("1")}}}}
	at := events.Anchor{TopicID: "Zx8-_AAAAAAAAAAAAAAAAA"}.After(17, events.SumOf(&record))
	for _, a := range []events.Anchor{{}, at} {
		if back, err := events.ParseAnchor(a.String()); err != nil || back != a {
			t.Errorf("%q is read back as %+v, %v", a, back, err)
		}
	}
	if kept := at.After(20, events.Sum{}); kept != at {
		t.Errorf("after a record that is not known: %+v, want %+v", kept, at)
	}
	other := record
	other.Headers = []events.Header{{Key: "h", Value: []byte("2")}}
	if events.SumOf(&record) == events.SumOf(&other) {
		t.Error("records with other headers have one sum")
	}
	for _, text := range []string{"x", "a/1/00", "a/0/" + at.String()[len(at.String())-64:], "a/-1/" + at.String()[len(at.String())-64:], at.String() + "/"} {
		if a, err := events.ParseAnchor(text); err == nil {
			t.Errorf("%q is read as %+v", text, a)
		}
	}
}
