// Package mapping reads mapping files. A mapping file says which server each
// rank of a traceset runs on, and which scale-up group it belongs to.
//
// A file is text. Its first section has one line per rank, its second one line
// per scale-up group:
//
//	# rank, server, group, subgroup
//	0, 4, 7, 0
//	1, 5, 7, 1
//	@ group, Gb/s, ns per switch hop, ns cable
//	7, 3600, 250, 5.5
//
// Parse accepts the whole file, or refuses it and names a line that breaks a rule.
// The grammar is that of completions.md 6.5, the checksum that of 6.6. All arithmetic is on
// integers.
package mapping

import (
	"errors"
	"fmt"
)

// Name is the name of every mapping file inside a simulation (document 2).
const Name = "chakra-mapping.txt"

// Bounds of a file.
const (
	MaxBytes       = 64_000_000 // of a file
	MaxLineBytes   = 4096       // of a line, without its LF
	MaxFieldsBytes = 127        // of a line before its comment
)

// ReservedServer is a server id that no rank may name.
const ReservedServer = 1<<32 - 1

// File is a valid mapping file.
type File struct {
	Places []Place // by rank, 0 to n-1
	Groups []Group // in the order in which they are declared
}

// RankCount returns the number of ranks placed, at least 1.
func (f *File) RankCount() int { return len(f.Places) }

// ScaleUpGroupCount returns the number of scale-up groups declared, used or not.
func (f *File) ScaleUpGroupCount() int { return len(f.Groups) }

// HasScaleUp reports whether any scale-up group is declared.
func (f *File) HasScaleUp() bool { return len(f.Groups) > 0 }

// Place is where a rank runs. Servers are counted depth first in document
// order, from 0 (completions.md 3.2).
type Place struct {
	Server   uint32
	Grouped  bool   // whether the rank is in a scale-up group
	Group    uint32 // the ID of one of File.Groups, if Grouped
	Subgroup uint32 // ranks of a group with equal subgroups share a scale-up switch
}

// Group is a scale-up fabric. Values are rounded half up to these units.
type Group struct {
	ID            uint32
	BitsPerSecond uint64 // at least 1; in the file, Gb/s
	SwitchHop     uint64 // ps; in the file, ns
	Cable         uint64 // ps; in the file, ns
}

// ErrTooLarge says that a file has more than MaxBytes bytes.
var ErrTooLarge = errors.New("mapping file is larger than 64000000 bytes")

// Error says why a mapping file is refused. Its text is the message to the client.
type Error struct {
	Line   int // from 1; 0 if no line is at fault
	Reason string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Reason
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Reason)
}
