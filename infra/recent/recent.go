// Package recent caches what was used lately.
package recent

// Cache keeps values in two generations. Get and Put move a value to the young one. When
// the generations turn, the old one is dropped and the young one becomes the old one. So
// a value stays until the second turn after its last use. The zero value is an empty
// cache. It is not safe for concurrent use.
type Cache[K comparable, V any] struct{ young, old map[K]V }

// Get returns the value of a key, and counts as a use.
func (c *Cache[K, V]) Get(key K) (value V, found bool) {
	if value, found = c.young[key]; found {
		return value, true
	}
	if value, found = c.old[key]; found {
		delete(c.old, key)
		c.Put(key, value)
	}
	return value, found
}

// Put stores the value of a key. To replace a value, call Get before, which moves the key
// to the young generation: otherwise the old generation may keep it, too.
func (c *Cache[K, V]) Put(key K, value V) {
	if c.young == nil {
		c.young = map[K]V{}
	}
	c.young[key] = value
}

// Len is the number of values.
func (c *Cache[K, V]) Len() int { return len(c.young) + len(c.old) }

// Turn turns the generations if the young one has more than limit values. It returns the
// values that it dropped.
func (c *Cache[K, V]) Turn(limit int) (dropped map[K]V) {
	if len(c.young) <= limit {
		return nil
	}
	dropped, c.old, c.young = c.old, c.young, nil
	return dropped
}
