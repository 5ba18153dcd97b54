package audit

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"netsim/events"
	"netsim/rating"
)

// A bundle is lines of JSON: a header, the events of the platform's rate chain
// and of the account's chain, the costs of the period, their totals, the
// checkpoints with their proofs, and a seal. Every line begins with its number
// and ends with its checksum, so that a verification can name the line that was
// changed. The seal is a signature over all lines before it.

// line is one line of a bundle.
type line struct {
	number int // 1, 2, 3 …
	kind   string
	body   any // by kind: *header, *eventLine …
}

// The kinds of lines, in their order.
const (
	kindHeader     = "header"
	kindEvent      = "event"
	kindCost       = "cost"
	kindTotal      = "total"
	kindCheckpoint = "checkpoint"
	kindSeal       = "seal"
)

func kinds() []string {
	return []string{kindHeader, kindEvent, kindCost, kindTotal, kindCheckpoint}
}

const bundleFormat = "netsim.bundle.v1"

type header struct {
	Format   string `json:"format"`
	Account  string `json:"account"`
	Platform string `json:"platform"`     // the stream of the rates
	From     string `json:"from"`         // YYYY-MM-DD, inclusive
	To       string `json:"to"`           // inclusive
	Covered  string `json:"coveredUntil"` // the time of the last checkpoint
	Cluster  string `json:"cluster"`
	// MovedFrom has the clusters in which the log was before, the oldest first.
	MovedFrom []string `json:"movedFrom,omitempty"`
	Verifier  string   `json:"verifier"` // the public key of the seal
	// Successions are the signed notes, from before the period, that lead from
	// the first key of the log to the key of the first checkpoint in the bundle.
	Successions []string `json:"successions,omitempty"`
}

// eventLine is an event of the log. Value is the text of its data, or ValueBase64
// if the data is not UTF-8. Data about another account is withheld: only its
// SHA-256 is given.
type eventLine struct {
	Partition   int32    `json:"partition"`
	Frame       []string `json:"frame"` // the values of docs/log.md's headers, "" for what is absent
	Value       string   `json:"value,omitempty"`
	ValueBase64 string   `json:"valueBase64,omitempty"`
	ValueSHA256 string   `json:"valueSha256,omitempty"`
	Hash        string   `json:"hash"`
}

// costLine is a cost of the period, with the values of its event.
type costLine struct {
	DailyCostID   int64  `json:"dailyCostId"`
	BillingItemID int64  `json:"billingItemId"`
	ItemName      string `json:"itemName"`
	Date          string `json:"date"`
	RateID        int64  `json:"rateId"`
	RateName      string `json:"rateName"`
	Cost          string `json:"cost"`
	Currency      string `json:"currency"`
	CorrectionOf  int64  `json:"correctionOf,omitempty"`
	Sequence      int64  `json:"sequence"` // of the event in the account's chain
}

type totalLine struct {
	RateName string `json:"rateName"`
	Currency string `json:"currency"`
	Total    string `json:"total"`
}

type checkpointLine struct {
	Note   string  `json:"note"`
	Proofs []proof `json:"proofs"` // of the rate chain and the account's chain, as far as they had begun
}

type sealLine struct {
	Seal string `json:"seal"` // a signed note
}

// sumDigits is the length of a line's checksum, in hex digits.
const sumDigits = 16

// encode returns the line with its checksum and a line feed.
func (l line) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(l.body); err != nil {
		return nil, fmt.Errorf("write line %d: %w", l.number, err)
	}
	members := bytes.TrimSuffix(b.Bytes()[1:], []byte("}\n"))
	text := fmt.Appendf(nil, `{"line":%d,"kind":"%s",%s`, l.number, l.kind, members)
	return fmt.Appendf(text, `,"sum":"%s"}`+"\n", sumOf(text)), nil
}

// decodeLine reads a line and returns an error for one that encode would not have
// written.
func decodeLine(text []byte) (l line, err error) {
	var head struct {
		Line int    `json:"line"`
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return l, fmt.Errorf("it is not JSON: %w", err)
	}
	l.number, l.kind = head.Line, head.Kind
	switch l.kind {
	case kindHeader:
		l.body = new(header)
	case kindEvent:
		l.body = new(eventLine)
	case kindCost:
		l.body = new(costLine)
	case kindTotal:
		l.body = new(totalLine)
	case kindCheckpoint:
		l.body = new(checkpointLine)
	case kindSeal:
		l.body = new(sealLine)
	default:
		return l, fmt.Errorf("there is no kind %q", l.kind)
	}
	if err := json.Unmarshal(text, l.body); err != nil {
		return l, fmt.Errorf("it is not a line of kind %s: %w", l.kind, err)
	}
	again, err := l.encode()
	if err == nil && !bytes.Equal(again, text) {
		err = errors.New("its bytes were changed: its checksum does not match")
	}
	return l, err
}

func sumOf(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text))[:sumDigits] }

// sealText returns the text that the seal of a bundle signs: the digest of all
// lines, and the digest of the lines of each kind without their numbers and
// checksums, by which a verification finds the kind that differs.
func sealText(account string, bundle [][]byte, kindOf []string) string {
	whole := sha256.New()
	text := ""
	for _, kind := range kinds() {
		h, count := sha256.New(), 0
		for i, l := range bundle {
			if kindOf[i] == kind {
				_, members, _ := bytes.Cut(l, []byte(",")) // the number is not a part of the content
				h.Write(members[:max(len(members)-len(`,"sum":""}`)-sumDigits-1, 0)])
				count++
			}
		}
		text += fmt.Sprintf("%s %d %x\n", kind, count, h.Sum(nil))
	}
	for _, l := range bundle {
		whole.Write(l)
	}
	return fmt.Sprintf("netsim bundle v1\naccount %s\nlines %d\nsha256 %x\n%s", account, len(bundle), whole.Sum(nil), text)
}

// eventOf returns the line of an event. A rate of another account is withheld.
func eventOf(f *Fact, withheld bool) *eventLine {
	e := &eventLine{Partition: f.Where.Partition, Frame: f.Texts(), Hash: f.Hash.String()}
	switch {
	case withheld:
		e.ValueSHA256 = fmt.Sprintf("%x", sha256.Sum256(f.Value))
	case utf8.Valid(f.Value):
		e.Value = string(f.Value)
	default:
		e.ValueBase64 = base64.StdEncoding.EncodeToString(f.Value)
	}
	return e
}

// fact reads an event and computes its hash. The value of a withheld event is
// nil.
func (e *eventLine) fact() (f Fact, err error) {
	names := events.FrameHeaders()
	if len(e.Frame) != len(names) {
		return f, fmt.Errorf("its frame has %d values, not %d", len(e.Frame), len(names))
	}
	m := events.Message{Key: []byte(e.Frame[3]), Value: []byte(e.Value)}
	if e.ValueBase64 != "" {
		if m.Value, err = base64.StdEncoding.DecodeString(e.ValueBase64); err != nil {
			return f, fmt.Errorf("its value: %w", err)
		}
	}
	if e.ValueSHA256 != "" {
		m.Value = []byte("withheld")
	}
	for i, v := range e.Frame {
		if v != "" {
			m.Headers = append(m.Headers, events.Header{Key: names[i], Value: []byte(v)})
		}
	}
	f.Frame, f.Hash, err = events.ReadFrame(&m)
	if err != nil {
		return f, err
	}
	f.Value, f.RecordedAt = m.Value, f.Time
	f.Where = Where{Topic: string(events.Billing), Partition: e.Partition, Stream: f.Stream}
	if e.ValueSHA256 != "" {
		sum, err := parseHash(e.ValueSHA256)
		if err != nil {
			return f, err
		}
		f.Value, f.Hash = nil, f.HashOver(sum)
	}
	return f, nil
}

// costsOf returns the costs and corrections of a period, and their totals.
func (a *account) costsOf(from, to string) (costs []costLine, totals []totalLine) {
	sums := map[[2]string]*rating.Sum{}
	all := slices.Clone(a.fixes)
	for _, i := range a.items {
		all = append(all, i.costs...)
	}
	for _, c := range all {
		if c.Date < from || c.Date > to {
			continue
		}
		costs = append(costs, costLine{
			DailyCostID: c.DailyCostID, BillingItemID: c.BillingItemID, ItemName: c.ItemName, Date: c.Date, RateID: c.RateID,
			RateName: c.RateName, Cost: c.Cost, Currency: c.Currency, CorrectionOf: c.CorrectionOf, Sequence: c.sequence,
		})
		key := [2]string{c.RateName, c.Currency}
		if sums[key] == nil {
			sums[key] = &rating.Sum{}
		}
		_ = sums[key].Add(c.Cost) // an invalid amount is reported when the day is rated again
	}
	slices.SortFunc(costs, func(a, b costLine) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.BillingItemID, b.BillingItemID),
			cmp.Compare(a.RateID, b.RateID), cmp.Compare(a.Sequence, b.Sequence))
	})
	for key, sum := range sums {
		totals = append(totals, totalLine{key[0], key[1], sum.String()})
	}
	slices.SortFunc(totals, func(a, b totalLine) int {
		return cmp.Or(cmp.Compare(a.RateName, b.RateName), cmp.Compare(a.Currency, b.Currency))
	})
	return costs, totals
}
