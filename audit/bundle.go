package audit

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
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

// digests are what the seal of a bundle signs: the digest of all lines, and the digest of
// the lines of each kind without their numbers and checksums, by which a verification
// finds the kind that differs.
type digests struct {
	lines int
	whole hash.Hash
	kinds map[string]*kindDigest
}

type kindDigest struct {
	lines int
	sum   hash.Hash
}

func newDigests() *digests {
	d := &digests{whole: sha256.New(), kinds: map[string]*kindDigest{}}
	for _, kind := range kinds() {
		d.kinds[kind] = &kindDigest{sum: sha256.New()}
	}
	return d
}

// add adds a line. One of an unknown kind counts only as one of all lines.
func (d *digests) add(kind string, text []byte) {
	d.lines++
	d.whole.Write(text)
	if k := d.kinds[kind]; k != nil {
		_, members, _ := bytes.Cut(text, []byte(",")) // the number is not a part of the content
		k.sum.Write(members[:max(len(members)-len(`,"sum":""}`)-sumDigits-1, 0)])
		k.lines++
	}
}

// text returns the text that the seal signs.
func (d *digests) text(account string) string {
	text := fmt.Sprintf("netsim bundle v1\naccount %s\nlines %d\nsha256 %x\n", account, d.lines, d.whole.Sum(nil))
	for _, kind := range kinds() {
		text += fmt.Sprintf("%s %d %x\n", kind, d.kinds[kind].lines, d.kinds[kind].sum.Sum(nil))
	}
	return text
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
	all := slices.Clone(a.fixes)
	for _, i := range a.items {
		all = append(all, i.costs...)
	}
	for _, c := range all {
		if c.Date >= from && c.Date <= to {
			costs = append(costs, costOf(&c.DailyCostRated, c.sequence))
		}
	}
	return costs, totalsOf(costs)
}

// costOf returns the line of a cost.
func costOf(c *events.DailyCostRated, sequence int64) costLine {
	return costLine{
		DailyCostID: c.DailyCostID, BillingItemID: c.BillingItemID, ItemName: c.ItemName, Date: c.Date, RateID: c.RateID,
		RateName: c.RateName, Cost: c.Cost, Currency: c.Currency, CorrectionOf: c.CorrectionOf, Sequence: sequence,
	}
}

// totalsOf sorts the costs into the order of a bundle, and returns their totals.
func totalsOf(costs []costLine) (totals []totalLine) {
	slices.SortFunc(costs, func(a, b costLine) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.BillingItemID, b.BillingItemID),
			cmp.Compare(a.RateID, b.RateID), cmp.Compare(a.Sequence, b.Sequence))
	})
	sums := map[[2]string]*rating.Sum{}
	for i := range costs {
		key := [2]string{costs[i].RateName, costs[i].Currency}
		if sums[key] == nil {
			sums[key] = &rating.Sum{}
		}
		_ = sums[key].Add(costs[i].Cost) // an invalid amount is reported when the day is rated again
	}
	for key, sum := range sums {
		totals = append(totals, totalLine{key[0], key[1], sum.String()})
	}
	slices.SortFunc(totals, func(a, b totalLine) int {
		return cmp.Or(cmp.Compare(a.RateName, b.RateName), cmp.Compare(a.Currency, b.Currency))
	})
	return totals
}
