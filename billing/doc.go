// Package billing meters what accounts use, books what it costs each day, and
// holds credit for simulations before they run (completions 7). It writes
// commands to the account's stream, which puts them in order. README.md lists
// its invariants and its timestamps.
package billing
