package events

import (
	"slices"
	"strings"
)

// goldenKeys returns the writer's keys of the golden files, in hex.
func goldenKeys() (first, second, third string) {
	return strings.Repeat("0123456789abcdef", 4), strings.Repeat("fedcba9876543210", 4), strings.Repeat("ab", 32)
}

// goldenSealCases returns logs in which seals decide verdicts.
func goldenSealCases() []goldenCase {
	first, second, third := goldenKeys()
	return []goldenCase{sealedLater(first, second, third), rotated(first, second)}
}

// sealer writes records of simulations with seals.
type sealer struct {
	*goldenLog
	keys map[string]*WriterKeys
}

func newSealer(name string, known ...string) *sealer {
	s := &sealer{newGoldenLog(name), map[string]*WriterKeys{}}
	s.Family, s.Keys = Simulations, known
	return s
}

// event adds an event sealed by a key, "" for none, and returns its hash.
func (s *sealer) event(note, key, eventType, stream string, sequence int64, previous Hash) Hash {
	f := goldenFrame(stream, sequence, previous)
	f.Type, f.PartitionKey = eventType, stream
	m, hash := f.Message([]byte("{}"))
	s.add(note, s.sealed(key, Simulations, hash, m))
	return hash
}

func (s *sealer) sealed(key string, family Family, hash Hash, m Message) Message {
	if s.keys[key] == nil && key != "" {
		var err error
		if s.keys[key], err = ParseWriterKeys(key); err != nil {
			panic(err)
		}
	}
	return s.keys[key].Seal(family, hash, m)
}

const goldenType = "netsim.simulation.requested.v1"

// sealedLater returns a log that begins without seals and demands them from its
// fifth record on.
func sealedLater(first, second, third string) goldenCase {
	s := newSealer("sealed later", first, second)
	none := Hash{}
	a1 := s.event("accepted: without a seal, before any is demanded", "", goldenType, "sim_a", 1, none)
	a2 := s.event("accepted: with the seal of a key that nobody knows, before any is demanded", third, goldenType, "sim_a", 2, a1)
	s.event("forged: who has no key demands no seals", "", logSealedType, "seal_simulations_0", 1, none)
	s.event("forged: nor who has another", third, logSealedType, "seal_simulations_0", 1, none)
	s.event("accepted: from here on seals are demanded", first, logSealedType, "seal_simulations_0", 1, none)
	s.event("forged: the right sequence and hash, no seal", "", goldenType, "sim_a", 3, a2)
	s.event("forged: and a key that nobody knows", third, goldenType, "sim_a", 3, a2)
	s.event("forged: a stream of its own", "", goldenType, "sim_forged", 1, none)
	a3 := s.event("accepted: sealed by the first key", first, goldenType, "sim_a", 3, a2)
	s.event("duplicate: the producer's retry", first, goldenType, "sim_a", 3, a2)
	s.event("forged: a retry without its seal", "", goldenType, "sim_a", 3, a2)
	s.event("accepted: sealed by the second key", second, goldenType, "sim_b", 1, none)
	s.event("gap: with a seal the sequence counts", first, goldenType, "sim_a", 5, a3)

	f := goldenFrame("sim_a", 4, a3)
	f.Type, f.PartitionKey = goldenType, "sim_a"
	m, hash := f.Message([]byte("{}"))
	s.add("forged: sealed for another topic", s.sealed(first, Billing, hash, m))
	s.add("forged: the seal of another event", s.sealed(first, Simulations, a3, m))
	right := s.sealed(first, Simulations, hash, m)
	at := len(right.Headers) - 1
	change := func(note string, value []byte) {
		changed := right
		changed.Headers = slices.Clone(right.Headers)
		changed.Headers[at].Value = value
		s.add(note, changed)
	}
	value := string(right.Headers[at].Value)
	change("forged: in capitals", []byte(strings.ToUpper(value)))
	change("forged: a digit short", []byte(value[:len(value)-1]))
	change("forged: another digit", []byte(value[:len(value)-1]+string("0123456789abcdef"[(strings.IndexByte("0123456789abcdef", value[len(value)-1])+1)%16])))
	change("forged: a null value", nil)
	change("forged: under the second key's name", append([]byte(s.keys[second].Signer()), value[2*keyIDBytes:]...))
	twice := right
	twice.Headers = append(slices.Clone(right.Headers), right.Headers[at])
	s.add("forged: sealed twice", twice)
	bare := m
	bare.Headers = slices.Clone(m.Headers)
	bare.Headers[headerAt(&bare, "ce_frameversion")].Value = []byte("2")
	s.add("bad-frame: a bad frame comes first", bare)
	s.add("accepted: the right one", right)
	return s.goldenCase
}

// rotated returns a log in which the second key retires the first.
func rotated(first, second string) goldenCase {
	s := newSealer("rotated", first, second)
	none := Hash{}
	seal1 := s.event("accepted: sealed from the beginning on", first, logSealedType, "seal_simulations_0", 1, none)
	a1 := s.event("accepted: by the first key", first, goldenType, "sim_a", 1, none)
	a2 := s.event("accepted: by the second, which is new", second, goldenType, "sim_a", 2, a1)
	a3 := s.event("accepted: by the first still, of a process that signs with it", first, goldenType, "sim_a", 3, a2)
	seal2 := s.event("accepted: the second key retires the first", second, logSealedType, "seal_simulations_0", 2, seal1)
	s.event("forged: by the retired key", first, goldenType, "sim_a", 4, a3)
	s.event("forged: the retired key does not come back", first, logSealedType, "seal_simulations_0", 3, seal2)
	s.event("duplicate: what it sealed before is a fact for ever", second, logSealedType, "seal_simulations_0", 2, seal1)
	s.event("accepted: by the second key", second, goldenType, "sim_a", 4, a3)
	return s.goldenCase
}
