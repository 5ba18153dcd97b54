package execution

import (
	"encoding/json"

	"netsim/simulator/engine"
)

// InputHash returns the SHA-256, sha256: and hex, of this program's engine version and
// of the inputs that the results of the order depend on. It leaves out names and ids,
// the time of the start, and snapshots, which change no figure. Orders with equal
// hashes have equal results.
func (o *Order) InputHash() string {
	inputs := struct {
		Engine, Version, Document string
		DurationNs                int64
		Format, Library           string // of the traceset
		MappingFile               string
	}{Engine: Builtin, Version: engine.Version, Document: o.DocumentHash, DurationNs: o.DurationNs}
	if t := o.Traceset; t != nil {
		inputs.Format, inputs.Library = t.Format, t.LibraryHash
	}
	if o.MappingFile != nil {
		inputs.MappingFile = o.MappingFile.Hash
	}
	text, _ := json.Marshal(inputs) //nolint:errchkjson // strings and integers always encode
	return Hash(text)
}
