package commands

import (
	"slices"
	"strconv"

	"netsim/fault"
)

// Match is an If-Match condition: strong entity tags without their quotes, or
// Any for "*". The zero Match is no condition. Weak tags never match, so
// the header's parser leaves them out (completions 1.5).
type Match struct {
	Given bool
	Any   bool
	Tags  []string
}

// Check returns PreconditionFailed unless the version is one of the tags.
func (m Match) Check(version int64) error {
	if !m.Given || m.Any || slices.Contains(m.Tags, strconv.FormatInt(version, 10)) {
		return nil
	}
	f := fault.New(fault.PreconditionFailed, "if-match does not name the current version \"%d\"", version)
	f.Version = version
	return f
}
