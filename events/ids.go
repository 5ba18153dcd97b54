package events

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/google/uuid"
)

// Identifier prefixes (completions.md section 1.1).
const (
	WorkspacePrefix     = "workspace"
	ConfigurationPrefix = "config"
	SimulationPrefix    = "sim"
	StudyPrefix         = "study"
	TracesetPrefix      = "ts"
	LibraryPrefix       = "lib"
	MappingFilePrefix   = "mapfile"
	UploadPrefix        = "upload"
	WebhookPrefix       = "webhook"
	AccountPrefix       = "acct"
	UserPrefix          = "user"
	PlatformPrefix      = "platform"   // one stream per deployment: its price list
	CheckpointPrefix    = "checkpoint" // one stream per deployment
	SealPrefix          = "seal"       // one stream per partition, in every family
	OperationPrefix     = "operation"  // a command of an operator
	OperatorPrefix      = "operator"   // of the actor of an operation
)

// System is the actor of events that the service itself causes.
const System = "system"

// The built-in workspaces (completions.md section 1.1).
const (
	DefaultWorkspace  = "workspace_0000000000e008000000000001"
	TemplateWorkspace = "workspace_0000000000e008000000000002"
	TracesetWorkspace = "workspace_0000000000e008000000000003"
)

// BuiltIn reports whether the workspace is one of the three that the service
// itself owns.
func BuiltIn(workspace string) bool {
	switch workspace {
	case DefaultWorkspace, TemplateWorkspace, TracesetWorkspace:
		return true
	}
	return false
}

const (
	crockford = "0123456789abcdefghjkmnpqrstvwxyz"
	idDigits  = 26
)

// NewID returns a fresh identifier: the prefix, "_" and a UUIDv7 in 26
// characters of lower-case Crockford base32.
func NewID(prefix string) string {
	return prefix + "_" + encodeID(uuid.Must(uuid.NewV7()))
}

// DerivedID returns the identifier that the parts determine. Equal parts give equal
// identifiers, so that a repeated create makes one resource.
func DerivedID(prefix string, parts ...string) string {
	return prefix + "_" + encodeID(DerivedUUID(parts...))
}

// DerivedUUID returns the version 8 UUID that the parts determine.
func DerivedUUID(parts ...string) uuid.UUID {
	h := sha256.New()
	var length [4]byte
	for _, p := range parts {
		binary.BigEndian.PutUint32(length[:], uint32(len(p)))
		h.Write(length[:])
		h.Write([]byte(p))
	}
	id := uuid.UUID(h.Sum(nil)[:16])
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return id
}

// ValidID reports whether s is an identifier with the prefix.
func ValidID(prefix, s string) bool {
	n := len(prefix)
	if len(s) != n+1+idDigits || s[:n] != prefix || s[n] != '_' || s[n+1] > '7' {
		return false
	}
	for i := n + 1; i < len(s); i++ {
		if !isCrockford(s[i]) {
			return false
		}
	}
	return true
}

func isCrockford(c byte) bool {
	switch {
	case c >= '0' && c <= '9':
		return true
	case c < 'a' || c > 'z':
		return false
	}
	return c != 'i' && c != 'l' && c != 'o' && c != 'u'
}

// encodeID encodes 128 bits, most significant first, in 5-bit digits with two
// zero bits in front.
func encodeID(id uuid.UUID) string {
	hi, lo := binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:])
	var out [idDigits]byte
	for i := idDigits - 1; i >= 0; i-- {
		out[i] = crockford[lo&31]
		lo = lo>>5 | hi<<59
		hi >>= 5
	}
	return string(out[:])
}
