package auth

import (
	"crypto/sha256"
	"sync"
	"time"
)

type tokenHash = [sha256.Size]byte

// verified is a token that was verified, until when it is valid, and the epoch
// of the keys that verified it: later ones lack a key.
type verified struct {
	caller Caller
	ends   time.Time
	epoch  int
}

// cache remembers verified tokens. It keeps two generations of at most size
// each: a full young generation becomes the old one, and what the old one
// still holds is moved back when it is used. So tokens in use stay, and no
// scan is ever needed.
type cache struct {
	size int

	mu    sync.RWMutex
	young map[tokenHash]*verified
	old   map[tokenHash]*verified
}

func newCache(size int) *cache {
	return &cache{size: size, young: make(map[tokenHash]*verified)}
}

// get returns the entry while now is before its end and no key was withdrawn
// since.
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

// contents returns how many tokens are remembered, and the bytes of their hashes
// and of their callers' text.
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

// put stores the entry and reports whether the token was not there.
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
