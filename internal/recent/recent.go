// Package recent caches what was used lately.
package recent

// Cache keeps values in two generations. A value that is used is in the young one;
// Turn makes that the old one and drops the one before. So a value stays at least
// until the second Turn after its last use. The zero value is an empty cache. It
// is not safe for concurrent use.
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

// Put stores the value of a key that the cache does not have, or replaces one that
// Get has returned.
func (c *Cache[K, V]) Put(key K, value V) {
	if c.young == nil {
		c.young = map[K]V{}
	}
	c.young[key] = value
}

// Len is the number of values.
func (c *Cache[K, V]) Len() int { return len(c.young) + len(c.old) }

// Turn begins another generation if the young one has more than so many values. It
// returns what it dropped.
func (c *Cache[K, V]) Turn(limit int) (dropped map[K]V) {
	if len(c.young) <= limit {
		return nil
	}
	dropped, c.old, c.young = c.old, c.young, nil
	return dropped
}
