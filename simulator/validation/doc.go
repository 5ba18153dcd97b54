// Package validation judges the documents of configurations: Complete checks
// and completes one that a client sends, Patch changes parameters of a stored
// one, and Check finds what keeps one from being simulated.
//
// A document that Check finds no error in can be run: its fabric is wired and
// its options are read. Whatever the document, Check ends soon and in little
// memory: what it unfolds to is counted before it is unfolded.
//
// It is pure. Sources: completions.md sections 3.2 (document), 3.3 (global
// parameters), 3.6 (report), 3.7 (parameters).
package validation

// MaxServers is the largest network, in servers, that the engine takes.
const MaxServers = 65536

// More bounds on what a document may unfold to, so that checking one stays
// cheap whatever its counts multiply to.
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

// Finding is one thing that validation has to say.
type Finding struct {
	Code      string `json:"code"`
	Severity  string `json:"severity"`
	Component string `json:"component,omitempty"` // name in the document
	Parameter string `json:"parameter,omitempty"` // its path within the component, steps separated by dots
	// Path is the JSONPath (RFC 9535) of the value, or of where one is missing,
	// in the stored document, which has unreferenced components, too.
	Path    string `json:"path,omitempty"`
	Message string `json:"message"` // what is wrong; what to do about it
}

// Attachments are what a configuration has beside its document.
type Attachments struct {
	Traceset    *Traceset    // nil when none is attached
	MappingFile *MappingFile // nil when none is attached
}

// MappingFile is what a document's mapping file looks like to validation.
type MappingFile struct {
	Deleted bool
	Ranks   int64    // that it places
	Servers []uint32 // of the ranks in order, counted in document order from 0
}

// Traceset is what a document's traceset looks like to validation.
type Traceset struct {
	Status string // ready, deleted, or on its way
	Ranks  int64
	// Groups are the sizes of the process groups whose collectives take their
	// algorithms from the application. The phases of a simple workload name
	// their own.
	Groups []int64
}
