// Package faults has the tests that kill: a process of netsim, a broker, PostgreSQL or an
// engine ends by SIGKILL or is suspended by SIGSTOP at a random moment or at a chosen step,
// a disk loses its last writes, a cluster is lost. Afterwards nothing that was acknowledged
// is missing, nothing was done twice, and the read model is what a replay gives.
//
// The tests run one at a time, because each wants the machine for itself, by "make faults".
// NETSIM_TEST_KILLS bounds the kills of each test, and NETSIM_TEST_SEED draws other moments.
package faults
