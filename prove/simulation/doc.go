// Package dst simulates the core of the service: its code, with its real drivers, runs on
// a simulated network, broker, database and clock. Faults, delays and clients follow from
// a seed. docs/simulation-testing.md says what is simulated, and how far a seed replays.
package dst
