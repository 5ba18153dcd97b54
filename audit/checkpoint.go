package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"netsim/events"
)

// Checkpoint says what the log held up to the positions that the read model had
// judged. The signature is over its text; the struct is the parsed text.
type Checkpoint struct {
	Name     string    // the day that had ended, YYYY-MM-DD, or the name that an operator gave
	Time     time.Time // when it was made, UTC, milliseconds
	Cluster  string    // the Kafka cluster of the log
	Previous string    // SHA-256 of the signed note of the previous checkpoint, hex; "" for the first
	Chains   int64     // number of billing chains
	Root     tlog.Hash // of the tree over the chains
	// Heads is the SHA-256 of the index of the heads of all streams at this checkpoint
	// (events.HeadsIndex); zero in checkpoints of releases that wrote none.
	Heads  events.Hash
	Losses []Loss // accepted by operators
	// Succession changes the key of the log from this checkpoint on.
	Succession Succession
	Parts      []Part
}

// Loss names the event by which an operator accepted that the log had lost
// records.
type Loss struct {
	Sequence int64  // in the stream of the checkpoints
	EventID  string // of the netsim.log.loss_accepted event
}

// Part is what a checkpoint says about a partition.
type Part struct {
	Family    events.Family
	TopicID   string
	Partition int32
	Next      int64 // the first offset not counted
	Facts     int64
	Rejected  int64
	Digest    events.Digest
}

const (
	checkpointTitle = "netsim checkpoint v1"
	noPrevious      = "none"
)

// over returns the checkpoint with the number and the root of the billing chains.
func (c Checkpoint) over(chains []Chain) (Checkpoint, error) {
	t, err := newTree(chains)
	if err != nil {
		return c, err
	}
	c.Chains = int64(len(chains))
	c.Root, err = t.root()
	return c, err
}

// Sign returns the signed note of a checkpoint over the chains of billing, from
// which it computes Chains and Root.
func (c Checkpoint) Sign(key *Key, chains []Chain) (string, error) {
	c, err := c.over(chains)
	if err != nil {
		return "", err
	}
	return sign(c.text(), key)
}

func (c Checkpoint) text() string {
	var b strings.Builder
	previous := c.Previous
	if previous == "" {
		previous = noPrevious
	}
	fmt.Fprintf(&b, "%s\nname %s\ntime %s\ncluster %s\nprevious %s\nchains %d %x\n", checkpointTitle,
		c.Name, c.Time.UTC().Format(events.TimeLayout), c.Cluster, previous, c.Chains, c.Root[:])
	if c.Heads != (events.Hash{}) {
		fmt.Fprintf(&b, "heads %s\n", c.Heads)
	}
	if s := c.Succession; s != (Succession{}) {
		fmt.Fprintf(&b, "key %s %s\n", s.From, s.To)
	}
	for _, l := range c.Losses {
		fmt.Fprintf(&b, "loss %d %s\n", l.Sequence, l.EventID)
	}
	for _, p := range c.Parts {
		fmt.Fprintf(&b, "partition %s %s %d %d %d %d %x\n",
			p.Family, p.TopicID, p.Partition, p.Next, p.Facts, p.Rejected, p.Digest[:])
	}
	return b.String()
}

// OpenCheckpoint reads a signed checkpoint. It fails if the verifier's key did
// not sign it, if its text is not in the canonical form, or if it is a succession
// that does not involve this key or lacks a signature of one of its two keys.
func OpenCheckpoint(signed, verifier string) (Checkpoint, error) {
	text, err := open(signed, verifier)
	if err != nil {
		return Checkpoint{}, err
	}
	c, err := parseCheckpoint(text)
	if err == nil {
		err = c.Succession.check(signed, verifier)
	}
	return c, err
}

// ReadCheckpoint reads a signed checkpoint. It does not verify the signature.
func ReadCheckpoint(signed string) (Checkpoint, error) {
	text, _, _ := strings.Cut(signed, "\n\n")
	return parseCheckpoint(text + "\n")
}

var errForm = errors.New("it is not in the form of a checkpoint")

func parseCheckpoint(text string) (c Checkpoint, err error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	words := map[string][]string{}
	for _, line := range lines[1:] {
		w := strings.Split(line, " ")
		switch {
		case w[0] == "loss" && len(w) == 3:
			sequence, err := strconv.ParseInt(w[1], 10, 64)
			if err != nil {
				return c, errForm
			}
			c.Losses = append(c.Losses, Loss{sequence, w[2]})
		case w[0] == "partition":
			part, err := parsePart(w[1:])
			if err != nil {
				return c, err
			}
			c.Parts = append(c.Parts, part)
		default:
			words[w[0]] = append(w[1:], "", "")
		}
	}
	word := func(name string, at int) string {
		if w := words[name]; at < len(w) {
			return w[at]
		}
		return ""
	}
	c.Name, c.Cluster = word("name", 0), word("cluster", 0)
	if c.Previous = word("previous", 0); c.Previous == noPrevious {
		c.Previous = ""
	}
	c.Succession = Succession{word("key", 0), word("key", 1)}
	at, errTime := time.Parse(events.TimeLayout, word("time", 0))
	if heads := word("heads", 0); heads != "" {
		if c.Heads, err = parseHash(heads); err != nil {
			return c, errForm
		}
	}
	count, errCount := strconv.ParseInt(word("chains", 0), 10, 64)
	root, errRoot := parseHash(word("chains", 1))
	c.Time, c.Chains, c.Root = at, count, tlog.Hash(root)
	// Only the canonical text is accepted, as the method text writes it.
	if errTime != nil || errCount != nil || errRoot != nil || c.text() != text {
		return c, errForm
	}
	return c, nil
}

func parsePart(w []string) (p Part, err error) {
	if len(w) != 7 {
		return p, errForm
	}
	p.Family, p.TopicID = events.Family(w[0]), w[1]
	numbers := make([]int64, 4)
	for i := range numbers {
		if numbers[i], err = strconv.ParseInt(w[2+i], 10, 64); err != nil {
			return p, errForm
		}
	}
	digest, err := parseHash(w[6])
	p.Partition, p.Next, p.Facts, p.Rejected = int32(numbers[0]), numbers[1], numbers[2], numbers[3]
	p.Digest = events.Digest(digest)
	return p, err
}

// HashOf returns the SHA-256, in hex, by which the next checkpoint names a
// signed note; "" for no note.
func HashOf(signed string) string {
	if signed == "" {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(signed)))
}

func parseHash(text string) (h events.Hash, err error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(h) {
		return h, fmt.Errorf("%q is not a hash", text)
	}
	return events.Hash(raw), nil
}
