// Package validation validates the documents of configurations. Complete checks and
// completes a document that a client sends, Patch changes parameters of a stored
// one, and Check finds what prevents one from being simulated.
//
// A document in which Check finds no error can be run: its fabric can be wired and
// its options can be read. Check is fast and uses little memory for any document: it
// counts what the document unfolds to before it unfolds it.
//
// It is pure. Sources: completions.md sections 3.2 (document), 3.3 (global
// parameters), 3.6 (report), 3.7 (parameters).
package validation

// MaxServers is the largest network, in servers, that the engine takes.
const MaxServers = 65536

// More bounds on what a document may unfold to, so that a check stays cheap whatever
// the product of its counts is.
const (
	maxHolders  = 65536 // racks, and pods
	maxSwitches = 65536
	maxNICs     = 1 << 20
	maxLinks    = 4 << 20
	maxReads    = 4 << 20 // references that are followed
)

// maxOfCode bounds how many findings of one code a report lists.
const maxOfCode = 50

// Severities of findings.
const (
	Error   = "error"
	Warning = "warning"
	Info    = "info"
)

// Finding is one result of validation.
type Finding struct {
	Code      string `json:"code"`
	Severity  string `json:"severity"`
	Component string `json:"component,omitempty"` // name in the document
	Parameter string `json:"parameter,omitempty"` // its path within the component, steps separated by dots
	// Path is the JSONPath (RFC 9535) of the value, or of the place where one is
	// missing, in the stored document.
	Path    string `json:"path,omitempty"`
	Message string `json:"message"` // what is wrong; what to do about it
}

// Attachments are the files attached to a configuration.
type Attachments struct {
	Traceset    *Traceset    // nil if none is attached
	MappingFile *MappingFile // nil if none is attached
}

// MappingFile has the facts about a mapping file that validation needs.
type MappingFile struct {
	Deleted bool
	Ranks   int64    // that it places
	Servers []uint32 // of the ranks in order, counted in document order from 0
}

// Traceset has the facts about a traceset that validation needs.
type Traceset struct {
	Status string // ready, deleted, or a status before ready
	Ranks  int64
	// Groups are the sizes of the process groups whose collectives use the
	// algorithms of the application; none for a simple workload, whose phases have
	// their own.
	Groups []int64
}
