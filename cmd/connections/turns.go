package connections

import (
	"context"
	"errors"
	"time"
)

const (
	// TurnSessions is how many of the locks of a process are turns on contended streams.
	TurnSessions = 4
	// turnWait bounds the wait for the turns of other processes.
	turnWait = 4 * time.Second
)

var errNoTurn = errors.New("this process has as many turns as it can hold")

// turn implements handle.Handler.Turn by an advisory lock, so that the turn of a process that
// dies ends with its session.
func (s *Connections) turn(ctx context.Context, stream string) (release func(), err error) {
	select {
	case s.turns <- struct{}{}:
	default:
		return nil, errNoTurn
	}
	unlock, err := s.Locks.Wait(context.WithoutCancel(ctx), "turn "+stream, turnWait)
	if err != nil {
		<-s.turns
		return nil, err
	}
	return func() { unlock(); <-s.turns }, nil
}
