package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"netsim/events"
)

// Segment is what the signed note of a segment says.
type Segment struct {
	Number    int64 // 1, 2, 3 …
	Cluster   string
	Previous  string // SHA-256 of the signed note before, hex; "" for the first
	Topics    []Topic
	Sections  []Section
	Positions []Position // after the segment, of every partition
	Groups    []Group
}

// Topic is a topic of the log. Its family is its name without the prefix.
type Topic struct {
	Family     events.Family
	ID         string
	Partitions int32
}

// Section is a part of a segment's file: records of one partition.
type Section struct {
	Family    events.Family
	Partition int32
	From, To  int64  // offsets; To is not included
	At, Bytes int64  // in the file
	SHA256    string // of these bytes, hex
}

// Position is how far a partition is archived.
type Position struct {
	Family    events.Family
	Partition int32
	Next      int64  // the first offset that is not archived
	Last      string // events.Sum of the record before it, hex; "" if it is not known
}

// Group is what a consumer group has committed for a partition.
type Group struct {
	Name      string
	Family    events.Family
	Partition int32
	Next      int64
	Metadata  string
}

const (
	title = "netsim log segment v1"
	none  = "none"
)

func (s *Segment) text() string {
	var b strings.Builder
	orNone := func(text string) string {
		if text == "" {
			return none
		}
		return text
	}
	fmt.Fprintf(&b, "%s\nsegment %d\ncluster %s\nprevious %s\n", title, s.Number, s.Cluster, orNone(s.Previous))
	for _, t := range s.Topics {
		fmt.Fprintf(&b, "topic %s %s %d\n", t.Family, t.ID, t.Partitions)
	}
	for _, p := range s.Sections {
		fmt.Fprintf(&b, "section %s %d %d %d %d %d %s\n", p.Family, p.Partition, p.From, p.To, p.At, p.Bytes, p.SHA256)
	}
	for _, p := range s.Positions {
		fmt.Fprintln(&b, strings.TrimSuffix(fmt.Sprintf("position %s %d %d %s", p.Family, p.Partition, p.Next, p.Last), " "))
	}
	for _, g := range s.Groups {
		fmt.Fprintf(&b, "group %s %s %d %d %s\n", g.Name, g.Family, g.Partition, g.Next, orNone(g.Metadata))
	}
	return b.String()
}

var errForm = errors.New("it is not in the form of a segment's note")

// parse reads the text of a note. It accepts only what the method text writes.
func parse(text string) (*Segment, error) {
	s := &Segment{}
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n")[1:] {
		w := strings.Split(line, " ")
		if !s.read(w[0], w[1:]) {
			return nil, errForm
		}
	}
	if s.text() != text {
		return nil, errForm
	}
	return s, nil
}

// read reads the words of a line, and reports whether it could.
func (s *Segment) read(kind string, w []string) bool {
	ok := true
	number := func(i int) int64 {
		n, err := strconv.ParseInt(w[i], 10, 64)
		ok = ok && err == nil && n >= 0
		return n
	}
	orEmpty := func(text string) string {
		if text == none {
			return ""
		}
		return text
	}
	words := map[string]int{"segment": 1, "cluster": 1, "previous": 1, "topic": 3, "section": 7, "position": 4, "group": 5}
	if kind == "position" && len(w) == words[kind]-1 {
		w = append(w, "") // of a release that did not say which log it is
	}
	if len(w) != words[kind] {
		return false
	}
	switch kind {
	case "segment":
		s.Number = number(0)
	case "cluster":
		s.Cluster = w[0]
	case "previous":
		s.Previous = orEmpty(w[0])
	case "topic":
		s.Topics = append(s.Topics, Topic{events.Family(w[0]), w[1], int32(number(2))})
	case "section":
		s.Sections = append(s.Sections, Section{events.Family(w[0]), int32(number(1)), number(2), number(3), number(4), number(5), w[6]})
	case "position":
		s.Positions = append(s.Positions, Position{events.Family(w[0]), int32(number(1)), number(2), w[3]})
	case "group":
		s.Groups = append(s.Groups, Group{w[0], events.Family(w[1]), int32(number(2)), number(3), orEmpty(w[4])})
	default:
		return false
	}
	return ok
}

// sign returns the signed note.
func (s *Segment) sign(key note.Signer) ([]byte, error) {
	signed, err := note.Sign(&note.Note{Text: s.text()}, key)
	if err != nil {
		return nil, fmt.Errorf("sign segment %d: %w", s.Number, err)
	}
	return signed, nil
}

// unsigned reads a note without verifying its signature.
func unsigned(signed []byte) (*Segment, error) {
	text, _, found := strings.Cut(string(signed), "\n\n")
	if !found || !strings.HasPrefix(text, title+"\n") {
		return nil, errForm
	}
	return parse(text + "\n")
}

// trusted returns an error unless one of the keys has signed the note.
func trusted(signed []byte, keys []string) error {
	var verifiers []note.Verifier
	for _, key := range keys {
		v, err := note.NewVerifier(key)
		if err != nil {
			return fmt.Errorf("verifier key %q: %w", key, err)
		}
		verifiers = append(verifiers, v)
	}
	if _, err := note.Open(signed, note.VerifierList(verifiers...)); err != nil {
		return fmt.Errorf("it is not signed by %s: %w", strings.Join(keys, " or "), err)
	}
	return nil
}

// position returns how far a partition is archived.
func (s *Segment) position(family events.Family, partition int32) Position {
	i := slices.IndexFunc(s.Positions, func(p Position) bool { return p.Family == family && p.Partition == partition })
	if i < 0 {
		return Position{Family: family, Partition: partition}
	}
	return s.Positions[i]
}

func (s *Segment) next(family events.Family, partition int32) int64 {
	return s.position(family, partition).Next
}

// anchor returns the position in the log of a topic.
func (p *Position) anchor(topicID string) (events.Anchor, error) {
	at := events.Anchor{TopicID: topicID, Next: p.Next}
	if p.Last == "" {
		return at, nil
	}
	sum, err := hex.DecodeString(p.Last)
	if err != nil || len(sum) != len(at.Last) {
		return at, fmt.Errorf("the sum of the last record of %s/%d is %q: %w", p.Family, p.Partition, p.Last, errForm)
	}
	at.Last = events.Sum(sum)
	return at, nil
}

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func noteName(number int64) string { return fmt.Sprintf("%012d.note", number) }

// fileName returns the name of the file of a segment. It has a digest of the content, so
// two processes that write another segment with the same number write two files.
func fileName(s *Segment) string {
	var sums strings.Builder
	for _, p := range s.Sections {
		sums.WriteString(p.SHA256)
	}
	return fmt.Sprintf("%012d-%s.zst", s.Number, sumOf([]byte(sums.String()))[:32])
}

// isFile matches what fileName returns.
var isFile = regexp.MustCompile(`^[0-9]{12}-[0-9a-f]{32}\.zst$`)
