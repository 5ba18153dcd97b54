// Package billing meters what accounts use, books what it costs each day, and
// holds credit for simulations before they run (completions 7). All changes of an
// account are events of its stream, which puts them in order. README.md lists the
// invariants and the timestamps.
package billing
