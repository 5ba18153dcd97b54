package api

// Each returns the view of every row, as a response shows it. The result is never nil, so
// that it is an array in JSON.
func Each[R, V any](rows []R, view func(*R) V) []V {
	views := make([]V, len(rows))
	for i := range rows {
		views[i] = view(&rows[i])
	}
	return views
}
