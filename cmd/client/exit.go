package client

import (
	"errors"

	"golang.org/x/oauth2"

	netsim "netsim/sdk/go"
)

// The exit codes of the commands for users.
const (
	exitDone     = 0
	exitFailed   = 1 // a run failed, two things differ, or the service could not be asked
	ExitUsage    = 2 // the command line is wrong
	exitNotFound = 3
	exitRefused  = 4
	exitNoCredit = 5 // or a quota is used up
	exitTimeout  = 124
)

// ExitCodes is the part of the help that explains the exit codes.
const ExitCodes = "Exit codes: 0 done; 1 failed, or what was compared differs; 2 wrong usage; 3 not found; " +
	"4 refused; 5 out of credit or quota; 124 the time of --timeout has passed."

var (
	errTimeout = errors.New("the time limit")
	errUsage   = errors.New("wrong usage")
	errNone    = errors.New("not found")     // on this machine
	errRefused = errors.New("not logged in") // without asking the service
	errDiffers = errors.New("they differ")
)

// ExitCode returns the exit code of what a command returned. An error that is not of the
// commands for users is a failure.
func ExitCode(err error) int {
	_, issuer := errors.AsType[*oauth2.RetrieveError](err)
	is := func(targets ...error) bool {
		for _, target := range targets {
			if errors.Is(err, target) {
				return true
			}
		}
		return false
	}
	switch {
	case err == nil:
		return exitDone
	case is(errTimeout):
		return exitTimeout
	case is(errUsage):
		return ExitUsage
	case is(errNone, netsim.ErrNotFound):
		return exitNotFound
	case is(netsim.ErrNoCredit, netsim.ErrLimited):
		return exitNoCredit
	case issuer, is(errRefused, netsim.ErrInvalid, netsim.ErrUnauthorized, netsim.ErrForbidden, netsim.ErrConflict):
		return exitRefused
	}
	return exitFailed
}
