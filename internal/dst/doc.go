// Package dst simulates the core of the service deterministically: its code, with its
// real drivers, runs on a simulated network, broker, database and clock, and everything
// that happens follows from a seed. docs/simulation-testing.md says what is simulated
// and how to replay a failure.
package dst
