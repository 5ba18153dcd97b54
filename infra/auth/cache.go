package auth

import (
	"crypto/sha256"
	"sync"
	"time"
)

type tokenHash = [sha256.Size]byte

// verified is a token that was accepted.
type verified struct {
	caller Caller
	ends   time.Time // when the token expires
	epoch  int       // epoch of the keys that verified it; see known.epoch
}

// cache holds verified tokens in two generations of at most size entries each.
// When the young generation is full it becomes the old one, and the old one is
// dropped. An old entry that is used moves to the young generation, so tokens in
// use stay without any scan for the least recently used.
type cache struct {
	size int

	mu    sync.RWMutex
	young map[tokenHash]*verified
	old   map[tokenHash]*verified
}

func newCache(size int) *cache {
	return &cache{size: size, young: make(map[tokenHash]*verified)}
}

// get returns the entry if it has not expired and no key was withdrawn since.
func (c *cache) get(h tokenHash, now time.Time, epoch int) (*verified, bool) {
	c.mu.RLock()
	v, young := c.young[h]
	if !young {
		v = c.old[h]
	}
	c.mu.RUnlock()
	if v == nil || !now.Before(v.ends) || v.epoch != epoch {
		return nil, false
	}
	if !young {
		c.put(h, v)
	}
	return v, true
}

// contents returns the number of cached tokens and the size of their hashes and
// callers in bytes.
func (c *cache) contents() (tokens, bytes int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	add := func(v *verified) {
		tokens++
		bytes += len(tokenHash{}) + v.caller.textBytes()
	}
	for _, v := range c.young {
		add(v)
	}
	for h, v := range c.old {
		if _, both := c.young[h]; !both {
			add(v)
		}
	}
	return tokens, bytes
}

// put stores the entry and reports whether the token is new.
func (c *cache) put(h tokenHash, v *verified) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, young := c.young[h]
	_, old := c.old[h]
	if !young && len(c.young) >= c.size {
		c.old, c.young = c.young, make(map[tokenHash]*verified)
	}
	c.young[h] = v
	return !young && !old
}
