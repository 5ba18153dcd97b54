// Package validation validates the documents of configurations. Complete checks and
// completes a document that a client sends, Patch changes parameters of a stored
// document, and Check finds what prevents a document from being simulated.
//
// A document in which Check finds no error can be run: its fabric can be wired and
// its options can be read. Check is fast and uses little memory for any document: it
// computes the size of the network before it unfolds the document into one.
//
// It is pure. Sources: completions.md sections 3.2 (document), 3.3 (global
// parameters), 3.6 (report), 3.7 (parameters).
package validation

// MaxServers is the largest number of servers that the engine can simulate.
const MaxServers = 65536

// More bounds on the network into which a document may unfold. They keep a check cheap
// even if the document has huge counts.
const (
	maxHolders  = 65536 // of racks, and also of pods
	maxSwitches = 65536
	maxNICs     = 1 << 20
	maxLinks    = 4 << 20
	maxReads    = 4 << 20 // references to follow
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
	// Path is the JSONPath (RFC 9535) of the value, or of the position where one is
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
	Ranks   int64    // number of ranks that it places
	Servers []uint32 // by rank; servers are numbered from 0 in document order
}

// Traceset has the facts about a traceset that validation needs.
type Traceset struct {
	Status string // ready, deleted, or a status before ready
	Ranks  int64
	// Groups are the sizes of the process groups whose collectives use the
	// algorithms of the application. A simple workload has none, since its phases
	// name their own algorithms.
	Groups []int64
}
