// Package traces reads the files of tracesets in the object store and extracts
// their metadata.
//
// An uploaded traceset has each file under a key of its content (layout cas).
// Extraction reads all files, in bounded memory, and records the result: the
// traceset is ready, or it is refused permanently. When the traceset contains
// archives, extraction first unpacks all files into one folder of the library
// (layout prefix). From then on the ranks are read from that folder.
//
// Extraction can be interrupted at any point and repeated. The names and the
// content of the objects that it writes depend on the traceset's files alone, and
// only the first record counts.
//
// Sources: completions.md 6.1 to 6.4.
package traces
