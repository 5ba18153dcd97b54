package reactor

// Done reports whether a commit says that the fact at the offset is done.
func Done(next int64, metadata string, offset int64) bool {
	return offset < next || readPosition(next, metadata).done(offset)
}
