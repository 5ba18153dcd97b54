// Package traces knows the files of tracesets in the object store: where they
// are, how they are read, and what they hold.
//
// A traceset comes as it was uploaded, each file under a key of its content
// (layout cas). Extraction reads it once, from end to end and in bounded memory,
// and records what it found: the traceset is ready, or it is refused for good.
// Of a traceset with archives it first unpacks every file into one folder of
// the library (layout prefix), from which the ranks are read from then on.
//
// Extraction may be interrupted anywhere and repeated: what it writes has names
// and content that follow from the traceset's files alone, and only the first
// record counts.
//
// Sources: completions.md 6.1 to 6.4.
package traces
