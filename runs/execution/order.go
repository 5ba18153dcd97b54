package execution

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"netsim/fault"
	"netsim/simulator/document"
)

// Order names the inputs of a simulation. Remote engines receive it as JSON
// (docs/engine-protocol.md).
type Order struct {
	SimulationID         string         `json:"simulationId"`
	Name                 string         `json:"name"`      // of the simulation; the prefix of its files' names
	StartedAt            time.Time      `json:"startedAt"` // wall-clock time at simulated time 0
	ConfigurationID      string         `json:"configurationId"`
	ConfigurationVersion int64          `json:"configurationVersion"`
	DocumentHash         string         `json:"documentHash"` // sha256: and hex, of Document
	Document             string         `json:"document"`     // the configuration's canonical text
	DurationNs           int64          `json:"durationNs"`   // limit of the simulated time
	Seed                 uint64         `json:"seed"`         // as in the document
	Traceset             *Traceset      `json:"traceset,omitempty"`
	MappingFile          *MappingFile   `json:"mappingFile,omitempty"`
	Checkpointing        *Checkpointing `json:"checkpointing,omitempty"`

	configuration *document.Document // Document parsed, nil before Configuration
}

// Configuration returns the parsed document, for several readers one after the other. It is
// parsed once, so Document must not change after the call.
func (o *Order) Configuration() (*document.Document, error) {
	if o.configuration == nil {
		d, err := document.Parse(o.Document)
		if err != nil {
			return nil, err
		}
		o.configuration = d
	}
	return o.configuration, nil
}

// Traceset is the workload of an order, with its files as they were uploaded.
type Traceset struct {
	ID          string `json:"id"`
	LibraryHash string `json:"libraryHash"`
	Format      string `json:"format"`
	Layout      string `json:"layout"`    // cas, or prefix when the files are archives
	RankCount   int64  `json:"rankCount"` // 0 if it follows from the files
	Files       []File `json:"files"`
}

// MappingFile is the mapping file of an order. Its File is named mapping.Name.
type MappingFile struct {
	ID    string `json:"id"`
	Title string `json:"title"` // its name in the service
	File
}

// Checkpointing asks for engine snapshots, which the protocol calls checkpoints.
type Checkpointing struct {
	IntervalNs int64 `json:"intervalNs"` // of wall-clock time
}

// File is an input of a run.
type File struct {
	Name string `json:"name"`
	Role string `json:"role,omitempty"` // of a traceset's file: primary or supporting
	Hash string `json:"hash"`           // sha256: and hex
	Size int64  `json:"size"`           // bytes
	URL  string `json:"url,omitempty"`  // download link for a remote engine
	Key  string `json:"-"`              // in the caller's store
}

// Inputs returns the files of an order.
func (o *Order) Inputs() (files []File) {
	if o.Traceset != nil {
		files = append(files, o.Traceset.Files...)
	}
	if o.MappingFile != nil {
		files = append(files, o.MappingFile.File)
	}
	return files
}

// Files opens the files of an order. It returns fault.NotFound for a missing file.
type Files interface {
	// Open opens a file.
	Open(ctx context.Context, f File) (io.ReadCloser, error)
	// Unpacked lists the files of a traceset whose layout is prefix, by name: the
	// files in its archives and the other files. Open opens them.
	Unpacked(ctx context.Context, t *Traceset) ([]File, error)
}

// Hash returns the hash of a text or file in the form that orders have.
func Hash[T string | []byte](content T) string {
	sum := sha256.Sum256([]byte(content))
	return sumText(sum[:])
}

func sumText(sum []byte) string { return "sha256:" + hex.EncodeToString(sum) }

// unfit returns the fault of inputs that can never run. Its text is the reason.
func unfit(format string, args ...any) error {
	return fault.New(fault.Unprocessable, "%s", fmt.Errorf(format, args...).Error())
}
