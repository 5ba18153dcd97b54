// Package dst simulates the core of the service: its code, with its real drivers, runs on
// a simulated network, broker, database and clock. Faults, delays and clients follow from
// a seed, which replays exactly. docs/simulation-testing.md says what is simulated.
package dst
