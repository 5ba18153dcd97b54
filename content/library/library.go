// Package library defines where the files of tracesets are stored. Tracesets with
// the same files share one library, which is identified by the hash of its list
// of files.
package library

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/zeebo/blake3"

	"netsim/events"
)

// Hash returns the BLAKE3-256 of a list of files, in hex. It hashes the lines
// "<file hash> <size> <name>", sorted by name (completions 2.7).
func Hash(files []events.TracesetFile) string {
	sorted := slices.SortedFunc(slices.Values(files), func(a, b events.TracesetFile) int { return strings.Compare(a.Name, b.Name) })
	h := blake3.New()
	for _, f := range sorted {
		fmt.Fprintf(h, "%s %d %s\n", f.Hash, f.Size, f.Name)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// ID returns the id of the library with this hash.
func ID(hash string) string { return events.DerivedID(events.LibraryPrefix, hash) }

// Prefix returns the key prefix of the library's objects.
func Prefix(hash string) string { return PrefixOf(ID(hash)) }

// PrefixOf is Prefix for a library id.
func PrefixOf(id string) string { return All + id + "/" }

// All is the key prefix of the objects of all libraries.
const All = "libraries/"

// Key returns the object key of a file in the library. fileHash is "sha256:" and
// hex (completions 6.4).
func Key(hash, fileHash string) string { return Prefix(hash) + Fanned(fileHash) }

// Fanned returns a path for content: a folder named after the first two digits of
// the hash, and in it a name of the other digits.
func Fanned(fileHash string) string {
	digits := strings.TrimPrefix(fileHash, "sha256:")
	return digits[:2] + "/" + digits[2:]
}

// Lock returns the name of the lock that is held while the library's objects are
// stored or removed.
func Lock(hash string) string { return LockOf(ID(hash)) }

// LockOf is Lock for a library id.
func LockOf(id string) string { return "library " + id }
