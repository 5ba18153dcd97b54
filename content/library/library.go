// Package library says where the files of tracesets are stored, once for all
// tracesets that hold the same: a library is known by the hash of its list of
// files.
package library

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/zeebo/blake3"

	"netsim/events"
)

// Hash returns the BLAKE3-256 of a list of files in hex: over the lines
// "<file hash> <size> <name>", sorted by name (completions 2.7).
func Hash(files []events.TracesetFile) string {
	sorted := slices.SortedFunc(slices.Values(files), func(a, b events.TracesetFile) int { return strings.Compare(a.Name, b.Name) })
	h := blake3.New()
	for _, f := range sorted {
		fmt.Fprintf(h, "%s %d %s\n", f.Hash, f.Size, f.Name)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// ID returns the library's id, which its hash determines.
func ID(hash string) string { return events.DerivedID(events.LibraryPrefix, hash) }

// Prefix returns where the library's objects are.
func Prefix(hash string) string { return PrefixOf(ID(hash)) }

// PrefixOf is Prefix, of the library of this id.
func PrefixOf(id string) string { return All + id + "/" }

// All is what the objects of every library begin with.
const All = "libraries/"

// Key returns where the library keeps a file of this content, "sha256:" and
// hex (completions 6.4).
func Key(hash, fileHash string) string { return Prefix(hash) + Fanned(fileHash) }

// Fanned spreads content over folders: the first two digits of its hash, and
// the rest.
func Fanned(fileHash string) string {
	digits := strings.TrimPrefix(fileHash, "sha256:")
	return digits[:2] + "/" + digits[2:]
}

// Lock names the lock under which the library's objects are stored, and are
// removed when no traceset refers to them.
func Lock(hash string) string { return LockOf(ID(hash)) }

// LockOf is Lock, of the library of this id.
func LockOf(id string) string { return "library " + id }
