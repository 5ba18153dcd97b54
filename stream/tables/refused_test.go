package tables_test

import (
	"bytes"
	"errors"
	"io"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"netsim/events"
	"netsim/infra/facts"
	"netsim/stream/tables"
)

// TestWhatDoesNotFitIsRefused: an amount or a day that the column cannot hold is an error
// with its position; nothing is rounded.
func TestWhatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	for text, column := range map[string]string{
		`{"amount":"100000000000000000000"}`: "amount", `{"amount":"-100000000000000000000"}`: "amount",
		`{"amount":"0.0000000000000000001"}`: "amount", `{"amount":"1e3"}`: "amount", `{"amount":"."}`: "amount", `{"amount":"1."}`: "amount",
		`{"amount":"+1"}`: "amount", `{"amount":"1 "}`: "amount", `{"amount":"NaN"}`: "amount",
		`{"startDate":"2026-02-30"}`: "start_date", `{"startDate":"tomorrow"}`: "start_date", `{"startDate":"2026-1-1"}`: "start_date",
	} {
		f := fact(events.Billing, events.RateSet{}.EventType(), []byte(text), 17)
		p := tables.NewParquet(io.Discard, tables.For(events.Billing))
		bad, is := errors.AsType[*tables.ValueError](p.Append(&f))
		if !is || bad.Column != column || bad.Position != (events.Position{Family: events.Billing, Partition: 3, Offset: 17}) || !strings.Contains(text, bad.Text) {
			t.Errorf("%s: the error is %v", text, bad)
		}
	}
	f := fact(events.Billing, events.RateSet{}.EventType(), []byte(`{}`), 1)
	if err := tables.NewParquet(io.Discard, tables.For(events.Workspaces)).Append(&f); err == nil {
		t.Error("a fact of another family was written")
	}
}

// TestWhatCannotBeDecoded: data of an unknown type, of another shape, or that is not JSON
// is in the column data alone.
func TestWhatCannotBeDecoded(t *testing.T) {
	t.Parallel()
	table := tables.For(events.Workspaces)
	created := events.WorkspaceCreated{}.EventType()
	for text, name := range map[string]string{
		`{"name":1}`: "", `{"name":"a","owner":true}`: "", `{"name":"a"`: "", `{"name":"a"}}`: "", `{"name":"a",}`: "", `["name"]`: "", `x`: "", "{\"name\":\"\xff\"}": "\uFFFD",
		`{"name":"a","name":"b"}`: "b", `{"NAME":"a"}`: "a", ` { "name" : "a\u00e9\n" , "other" : [ { "x" : "]}" } , 1 ] } `: "aé\n", `{"name":null}`: "", `{"name":"a","name":null}`: "a", `{}`: "",
	} {
		f := fact(events.Workspaces, created, []byte(text), 0)
		file, _ := written(t, table, []facts.Fact{full(t), f, full(t)})
		row := readBack(t, file)[1]
		if row["data"] != strings.ToValidUTF8(text, "\uFFFD") || row["name"] != name || row["owner"] != "" {
			t.Errorf("%s: the row is %v", text, row)
		}
		// It is what encoding/json reads, where that accepts the data.
		if d, is := f.Data.(events.WorkspaceCreated); is != (f.Err == nil) || is && d.Name != name {
			t.Errorf("%s: decoded as %+v, %v; the column has %q", text, f.Data, f.Err, name)
		}
	}
	f := fact(events.Workspaces, "netsim.workspace.painted.v1", []byte(`{"name":"a"}`), 0)
	file, _ := written(t, table, []facts.Fact{full(t), f})
	if row := readBack(t, file)[1]; row["name"] != "" || row["type"] != "netsim.workspace.painted.v1" || row["data"] != `{"name":"a"}` {
		t.Errorf("an unknown type: %v", row)
	}
}

// TestAmountsAreExact: any decimal that fits is what it is, and any other is refused.
func TestAmountsAreExact(t *testing.T) {
	t.Parallel()
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(tables.Precision), nil)
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(tables.Scale), nil)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?[0-9]{1,23}(\.[0-9]{1,20})?`).Draw(t, "amount")
		n, _ := new(big.Rat).SetString(text)
		units := new(big.Rat).Mul(n, new(big.Rat).SetInt(scale))
		fits := units.IsInt() && new(big.Int).Abs(units.Num()).Cmp(limit) < 0
		f := fact(events.Billing, events.CreditGranted{}.EventType(), []byte(`{"amount":"`+text+`"}`), 0)
		var out bytes.Buffer
		p := tables.NewParquet(&out, tables.For(events.Billing))
		if err := p.Append(&f); (err == nil) != fits {
			t.Fatalf("%s fits: %t, error: %v", text, fits, err)
		}
		if !fits {
			return
		}
		if _, err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if got := readBack(t, out.Bytes())[0]["amount"]; got != rational(n) {
			t.Fatalf("%s is read back as %s", text, got)
		}
	})
}

// full returns a fact with every member. It is written before others, which must not get
// its values.
func full(t *testing.T) facts.Fact {
	t.Helper()
	value, err := events.Encode(events.WorkspaceCreated{AccountID: "acct", Name: "full", Description: "d", Owner: "o"})
	if err != nil {
		t.Fatal(err)
	}
	return fact(events.Workspaces, events.WorkspaceCreated{}.EventType(), value, 1)
}
