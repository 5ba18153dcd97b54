package readapi

// Following is the number of followers.
func (f *Feed) Following() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, simulation := range f.followers {
		n += len(simulation)
	}
	return n
}
