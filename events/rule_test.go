package events

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// sketch is an event of the one stream to which several writers append.
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

// Writers may decide on old heads, append after records that are lost, and repeat
// records. The facts are one unbroken chain all the same, and the facts of a part
// of the log are facts of the whole log.
func TestFactsAreOneUnbrokenChain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var log []sketch
		writers := make([]Head, rapid.IntRange(1, 4).Draw(t, "writers")) // the head that each writer assumes
		for body := range rapid.IntRange(0, 60).Draw(t, "steps") {
			w := rapid.IntRange(0, len(writers)-1).Draw(t, "writer")
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0: // the writer reads the log
				if facts, _ := fold(log); len(facts) > 0 {
					last := facts[len(facts)-1]
					writers[w] = Head{last.frame.Sequence, last.hash}
				}
			case 1: // any record of the log is repeated
				if len(log) > 0 {
					log = append(log, log[rapid.IntRange(0, len(log)-1).Draw(t, "again")])
				}
			default: // the writer appends after its assumed head, and assumes success
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
			t.Fatal("the log has records, but no facts")
		}

		some, _ := fold(log[:rapid.IntRange(0, len(log)).Draw(t, "prefix")])
		for i := range some {
			if some[i].hash != facts[i].hash {
				t.Fatalf("fact %d differs for a reader of a part of the log", i)
			}
		}
		if _, again := fold(facts); again != digest {
			t.Fatal("a log of the facts alone has another digest")
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
