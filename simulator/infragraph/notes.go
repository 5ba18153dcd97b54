package infragraph

import "fmt"

// notes lists what the other form does not have.
type notes struct {
	list []string
	more int // that are not listed
}

func (n *notes) add(format string, args ...any) {
	if len(n.list) == maxNotes {
		n.more++
		return
	}
	n.list = append(n.list, fmt.Sprintf(format, args...))
}

// all returns the notes. The last one says how many further ones there were.
func (n *notes) all() []string {
	if n.more > 0 {
		return append(n.list, fmt.Sprintf("and %d more", n.more))
	}
	return n.list
}
