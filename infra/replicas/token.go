package replicas

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"netsim/events"
	"netsim/fault"
	"netsim/infra/projector"
	"netsim/infra/web"
)

// Header is the name of the header with a token, in requests and responses.
const Header = "Consistency-Token"

// Any is the value of the request header that asks for no position.
const Any = "any"

const (
	maxTokens = 16  // of a request
	maxParts  = 224 // partitions of a token: 32 of each family
)

// LogID identifies an event log: a digest of its cluster and its topics.
type LogID [8]byte

// Without returns the id of the log after losses of its records (projector.ReadLosses); it
// is the same for none.
func (l LogID) Without(losses string) LogID {
	if losses == "" {
		return l
	}
	digest := sha256.New()
	writeText(digest, string(l[:]), losses)
	return LogID(digest.Sum(nil))
}

// Tokens seals and opens tokens.
type Tokens struct {
	log     LogID
	cursors *web.Cursors
}

// Keys derives the keys of tokens and cursors from the secrets, newest first.
func Keys(secrets [][]byte) (keys [][]byte, err error) {
	for _, secret := range secrets {
		key, err := hkdf.Key(sha256.New, secret, nil, "netsim tokens and cursors", 32)
		if err != nil {
			return nil, fmt.Errorf("derive a key: %w", err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// NewTokens returns the tokens of a log. They are sealed with the first key.
func NewTokens(log LogID, keys [][]byte, now func() time.Time) (*Tokens, error) {
	cursors, err := web.NewCursors(keys, now)
	if err != nil {
		return nil, err
	}
	return &Tokens{log: log, cursors: cursors.Lasting(tokenLifetime)}, nil
}

// tokenLifetime is longer than any log lives: a token is valid as long as its log and
// its key are.
const tokenLifetime = 100 * 365 * 24 * time.Hour

const tokenVersion = 1

// Seal returns the token of a position with at most 224 partitions. That of a larger one
// covers no partition.
func (t *Tokens) Seal(at projector.Position) string {
	parts := at.Parts()
	if len(parts) > maxParts {
		parts = nil
	}
	families := events.Families()
	plain := append([]byte{tokenVersion}, t.log[:]...)
	for len(parts) > 0 {
		family := parts[0].Family
		n := slices.IndexFunc(parts, func(p events.Position) bool { return p.Family != family })
		if n < 0 {
			n = len(parts)
		}
		plain = append(plain, byte(slices.Index(families, family)))
		plain = binary.AppendUvarint(plain, uint64(n))
		for _, p := range parts[:n] {
			plain = binary.AppendUvarint(plain, uint64(p.Partition))
			plain = binary.AppendUvarint(plain, uint64(p.Offset))
		}
		parts = parts[n:]
	}
	return t.cursors.Seal(web.Binding(Header), plain)
}

// Open returns the least position that reaches all tokens of a request header. The error
// is Validation if one of them is not a token of this log.
func (t *Tokens) Open(header string) (projector.Position, error) {
	at := projector.Position{}
	if header == Any {
		return at, nil
	}
	tokens := strings.Split(header, ",")
	if len(tokens) > maxTokens {
		return nil, fault.New(fault.Validation, "%s has %d tokens, want at most %d", Header, len(tokens), maxTokens)
	}
	for _, token := range tokens {
		one, err := t.open(strings.Trim(token, " \t"))
		if err != nil {
			return nil, err
		}
		at = at.Join(one)
	}
	return at, nil
}

func (t *Tokens) open(token string) (projector.Position, error) {
	plain, err := t.cursors.Open(web.Binding(Header), token)
	if err != nil {
		return nil, fault.New(fault.Validation, "%s is not a token of this service", Header)
	}
	if len(plain) < 1+len(t.log) || plain[0] != tokenVersion {
		return nil, fault.New(fault.Validation, "%s is a token of another release", Header)
	}
	if LogID(plain[1:]) != t.log {
		return nil, fault.New(fault.Validation, "%s is a token of another event log; repeat the request without it", Header)
	}
	parts, err := readParts(plain[1+len(t.log):])
	if err != nil {
		return nil, fault.New(fault.Validation, "%s is a token of another release", Header)
	}
	return projector.PositionOf(parts...), nil
}

// readParts reads the partitions of a token.
func readParts(plain []byte) (parts []events.Position, err error) {
	families := events.Families()
	number := func() (n uint64) {
		n, size := binary.Uvarint(plain)
		if size <= 0 || n > 1<<62 {
			err = errors.New("a number is malformed")
			return 0
		}
		plain = plain[size:]
		return n
	}
	for err == nil && len(plain) > 0 {
		family := int(plain[0])
		plain = plain[1:]
		count := number()
		if family >= len(families) || count > maxParts {
			return nil, errors.New("the family is unknown")
		}
		for range count {
			partition, next := number(), number()
			if err != nil || partition > 1<<30 {
				return nil, errors.New("a partition is malformed")
			}
			parts = append(parts, events.Position{Family: families[family], Partition: int32(partition), Offset: int64(next)})
		}
	}
	return parts, err
}
