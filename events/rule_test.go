package events

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// sketch is an event of the one stream that the writers below fight over.
type sketch struct {
	frame Frame
	hash  Hash
}

func newSketch(after Head, body int) sketch {
	f := goldenFrame("sim_a", after.Sequence+1, after.Hash)
	_, hash := f.Message(fmt.Append(nil, body))
	return sketch{f, hash}
}

// fold judges the log and returns the facts.
func fold(log []sketch) (facts []sketch, digest Digest) {
	var head Head
	for _, s := range log {
		if Judge(head, &s.frame, s.hash, true, 0, 1) == Accepted {
			head = Head{s.frame.Sequence, s.hash}
			facts = append(facts, s)
			digest = digest.Add(s.hash)
		}
	}
	return facts, digest
}

// Whatever writers do, seeing old heads, pipelining on what may be lost and
// sending again what they sent, the facts are one unbroken chain, and no reader
// of more of the log ever takes back a fact.
func TestFactsAreOneUnbrokenChain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var log []sketch
		writers := make([]Head, rapid.IntRange(1, 4).Draw(t, "writers")) // what each believes
		for body := range rapid.IntRange(0, 60).Draw(t, "steps") {
			w := rapid.IntRange(0, len(writers)-1).Draw(t, "writer")
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0: // looks at the log
				if facts, _ := fold(log); len(facts) > 0 {
					last := facts[len(facts)-1]
					writers[w] = Head{last.frame.Sequence, last.hash}
				}
			case 1: // a record comes once more, from anywhere in the log
				if len(log) > 0 {
					log = append(log, log[rapid.IntRange(0, len(log)-1).Draw(t, "again")])
				}
			default: // decides on what it believes, and believes in its success
				s := newSketch(writers[w], body)
				log = append(log, s)
				writers[w] = Head{s.frame.Sequence, s.hash}
			}
		}

		facts, digest := fold(log)
		var before Hash
		for i, s := range facts {
			if s.frame.Sequence != int64(i+1) || s.frame.PreviousHash != before {
				t.Fatalf("fact %d has sequence %d after %s, want %s", i, s.frame.Sequence, s.frame.PreviousHash, before)
			}
			before = s.hash
		}
		if len(log) > 0 && len(facts) == 0 {
			t.Fatal("nothing is a fact")
		}

		some, _ := fold(log[:rapid.IntRange(0, len(log)).Draw(t, "prefix")])
		for i := range some {
			if some[i].hash != facts[i].hash {
				t.Fatalf("fact %d was another one for an earlier reader", i)
			}
		}
		if _, again := fold(facts); again != digest {
			t.Fatal("the facts alone give another digest")
		}
	})
}

func TestPartitionOfIsFNV1a(t *testing.T) {
	t.Parallel()
	// The hashes are from FNV's published test vectors.
	for key, hash := range map[string]uint32{"": 0x811c9dc5, "a": 0xe40c292c, "foobar": 0xbf9cf968} {
		for _, count := range []int32{1, 2, 7, 1 << 20} {
			if got, want := PartitionOf(key, count), int32(hash%uint32(count)); got != want {
				t.Errorf("PartitionOf(%q, %d) is %d, want %d", key, count, got, want)
			}
		}
	}
}
