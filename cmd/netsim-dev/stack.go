package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// allParts are the parts of a stack, in the order of their start.
var allParts = []string{"broker", "postgres", "objects", "issuer"}

// stack is a set of running parts.
type stack struct {
	names   []string
	servers []*server
	ended   chan error // receives an error when a part ends by itself
}

// startParts starts the named parts, each in its own directory below o.data. When
// one fails, the parts already started are ended.
func startParts(o options, names ...string) (*stack, error) {
	s := &stack{ended: make(chan error, len(names))}
	for _, name := range names {
		started, err := startPart(name, o)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", name, err), s.stop())
		}
		s.names = append(s.names, name)
		s.servers = append(s.servers, started)
		if started.ended != nil {
			go func() { s.ended <- fmt.Errorf("%s ended: %w", name, <-started.ended) }()
		}
	}
	return s, nil
}

// startPart starts one part in its own directory, which is locked until the part is
// stopped.
func startPart(name string, o options) (*server, error) {
	var start func(o options, dir string) (*server, error)
	mode := os.FileMode(0o700)
	switch name {
	case "broker":
		start = startBroker
	case "kafka":
		start = startKafka
	case "postgres":
		start, mode = startPostgres, 0o755 // PostgreSQL may run as another user
	case "objects":
		start = startObjects
	case "issuer":
		start = startIssuer
	default:
		return nil, errors.New("no such part")
	}
	dir := filepath.Join(o.data, name)
	lock, err := lockDir(dir, mode)
	if err != nil {
		return nil, err
	}
	started, err := start(o, dir)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	end := started.stop
	started.stop = func() error { return errors.Join(end(), lock.Close()) }
	return started, nil
}

func (s *stack) endpoints() map[string]endpoint {
	m := make(map[string]endpoint)
	for i, name := range s.names {
		m[name] = s.servers[i].endpoint
	}
	return m
}

// stop ends the parts in the reverse order of their start.
func (s *stack) stop() error {
	var errs []error
	for _, running := range slices.Backward(s.servers) {
		errs = append(errs, running.stop())
	}
	return errors.Join(errs...)
}
