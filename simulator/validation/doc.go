// Package validation judges the documents of configurations: Complete checks
// and completes one that a client sends, Check finds what keeps a stored one
// from being simulated.
//
// It is pure. Sources: completions.md sections 3.2 (document), 3.3 (global
// parameters), 3.6 (report), 3.7 (parameters).
package validation

// MaxServers is the largest network, in servers, that the engine takes.
const MaxServers = 65536

// More bounds on what a document may unfold to, so that checking one stays
// cheap whatever its counts multiply to.
const (
	maxSwitches = 65536
	maxNICs     = 1 << 20
	maxLinks    = 4 << 20
)

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
	Parameter string `json:"parameter,omitempty"` // its path within the component
	Path      string `json:"path,omitempty"`      // JSONPath in the document
	Message   string `json:"message"`
}

// Attachments are what a configuration has beside its document.
type Attachments struct {
	Traceset *Traceset // nil when none is attached
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
