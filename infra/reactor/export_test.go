package reactor

import "netsim/events"

// Done reports whether a commit says that the fact at the offset is done.
func Done(next int64, metadata string, offset int64) bool {
	return offset < next || readPosition(next, metadata).done(offset)
}

// Metadata returns the metadata of a position at next. The facts at the open
// offsets are not done; all others before until are done.
func Metadata(next, until int64, open ...int64) string {
	return position{next: next, resumed: resumed{until, open}}.metadata()
}

// Anchored returns the metadata of a position at next without open facts, in a log with
// the anchor.
func Anchored(next int64, anchor events.Anchor) string {
	return position{next: next, anchor: anchor, resumed: resumed{until: next}}.metadata()
}

// AnchorOf returns the anchor that the metadata of a position at next has.
func AnchorOf(next int64, metadata string) events.Anchor { return readPosition(next, metadata).anchor }
