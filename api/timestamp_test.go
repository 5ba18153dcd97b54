package api_test

import (
	"encoding/json"
	"testing"
	"time"

	"netsim/api"
)

func TestTimestampPrintsUTCWithMilliseconds(t *testing.T) {
	t.Parallel()
	cases := []struct{ given, then string }{
		{"2026-11-21T08:30:00Z", "2026-11-21T08:30:00.000Z"},
		{"2026-11-21T08:30:00.1239Z", "2026-11-21T08:30:00.123Z"},
		{"2026-11-21T10:30:00.5+02:00", "2026-11-21T08:30:00.500Z"},
	}
	for _, c := range cases {
		var stamp api.Timestamp
		if err := json.Unmarshal([]byte(`"`+c.given+`"`), &stamp); err != nil {
			t.Errorf("%s: %v", c.given, err)
			continue
		}
		printed, err := json.Marshal(stamp)
		if err != nil || string(printed) != `"`+c.then+`"` {
			t.Errorf("%s printed as %s, %v; want %s", c.given, printed, err, c.then)
		}
	}
}

func TestTimestampRefusesOtherForms(t *testing.T) {
	t.Parallel()
	for _, given := range []string{`"2026-11-21"`, `"yesterday"`, `17`, `{}`, `""`} {
		var stamp api.Timestamp
		if err := json.Unmarshal([]byte(given), &stamp); err == nil {
			t.Errorf("%s was read as %s", given, stamp)
		}
	}
}

func TestAbsentTimestampIsOmitted(t *testing.T) {
	t.Parallel()
	printed, err := json.Marshal(api.Simulation{CreatedAt: api.Timestamp{Time: time.Unix(0, 0)}})
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(printed, &members); err != nil {
		t.Fatal(err)
	}
	if _, present := members["completedAt"]; present || members["createdAt"] != "1970-01-01T00:00:00.000Z" {
		t.Errorf("simulation without an end printed as %s", printed)
	}
}
