package contracts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"netsim/infra/wait"
)

// Schema is the JSON Schema of an event type's data.
type Schema struct {
	Type     string
	Document []byte // JSON
}

// Config says which schemas are registered where.
type Config struct {
	URL          string // of the API, such as http://host:8081 or https://host/apis/ccompat/v7
	User, Secret string // for basic authentication. A secret without a user is a bearer token; "" sends none
	Schemas      []Schema
	Log          *slog.Logger
	Transport    http.RoundTripper // makes the calls; default http.DefaultTransport
	Round        func(error)       // called after each round with its result; may be nil
	Retry        time.Duration     // pause after the first failed round; it doubles up to 64 times that. Default 1 s
	Recheck      time.Duration     // pause after a round in which every schema was registered or refused. Default 1 h
}

// Registry registers schemas and knows their ids. It is safe for concurrent use. A
// nil Registry has no schemas.
type Registry struct {
	config Config
	client client

	mu      sync.RWMutex
	ids     map[string]int32
	err     error // of the last round
	refused map[string]bool
}

// New returns a registry. It does not call it.
func New(c Config) (*Registry, error) {
	to, err := newClient(c)
	if err != nil {
		return nil, err
	}
	c.Retry, c.Recheck = cmp.Or(c.Retry, time.Second), cmp.Or(c.Recheck, time.Hour)
	return &Registry{config: c, client: to, ids: map[string]int32{}, refused: map[string]bool{}, err: errUnasked}, nil
}

var errUnasked = errors.New("the schema registry has not been asked yet")

// SchemaID returns the id of the type's schema in the registry. It is false until
// the schema is registered.
func (r *Registry) SchemaID(eventType string) (int32, bool) {
	if r == nil {
		return 0, false
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	id, ok := r.ids[eventType]
	return id, ok
}

// State returns how many schemas are registered, of how many, and why the last
// round was not complete.
func (r *Registry) State() (registered, of int, err error) {
	if r == nil {
		return 0, 0, nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.ids), len(r.config.Schemas), r.err
}

// Run registers all schemas, and again after Recheck, in case the registry lost
// them. It repeats a round that fails. It returns when ctx ends.
func (r *Registry) Run(ctx context.Context) error {
	for pauses := wait.Doubling(r.config.Retry, 64*r.config.Retry); ; {
		err := r.round(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if r.config.Round != nil {
			r.config.Round(err)
		}
		pause := r.config.Recheck
		if unreachable(err) {
			pause = pauses.NextBackOff()
		} else {
			pauses.Reset()
		}
		if err := wait.For(ctx, pause); err != nil {
			return err
		}
	}
}

// unreachable reports whether a round did not get to its end. A refused schema does
// not count: only another release or an operator can change that.
func unreachable(err error) bool {
	_, refused := errors.AsType[*Refused](err)
	return err != nil && !refused
}

// round registers every schema. A refused schema does not keep the others from
// being registered; any other error ends the round.
func (r *Registry) round(ctx context.Context) error {
	var refusals []error
	for _, s := range r.config.Schemas {
		id, err := r.client.register(ctx, s)
		if _, refused := errors.AsType[*Refused](err); refused {
			refusals = append(refusals, err)
			r.refuse(ctx, s.Type, err)
			continue
		}
		if err != nil {
			if ctx.Err() == nil {
				r.note(ctx, err)
			}
			return err
		}
		r.mu.Lock()
		r.ids[s.Type] = id
		delete(r.refused, s.Type)
		r.mu.Unlock()
	}
	err := errors.Join(refusals...)
	r.note(ctx, err)
	return err
}

// refuse forgets the id of a refused schema and logs the refusal once.
func (r *Registry) refuse(ctx context.Context, eventType string, err error) {
	r.mu.Lock()
	before := r.refused[eventType]
	r.refused[eventType] = true
	delete(r.ids, eventType)
	r.mu.Unlock()
	if !before {
		r.config.Log.WarnContext(ctx, "the schema registry refuses a schema; its messages have no schema id", "type", eventType, "error", err)
	}
}

// note stores the result of a round, and logs when it differs from the one before.
func (r *Registry) note(ctx context.Context, err error) {
	r.mu.Lock()
	before, registered := r.err, len(r.ids)
	r.err = err
	r.mu.Unlock()
	switch {
	case err == nil && before != nil:
		r.config.Log.InfoContext(ctx, "the schema registry has every schema", "schemas", registered)
	case unreachable(err) && (!unreachable(before) || errors.Is(before, errUnasked)):
		r.config.Log.WarnContext(ctx, "the schema registry cannot be used; messages without a known schema have no schema id until it can", "error", err)
	}
}

// Refused is the error of a schema that the registry does not accept: it is
// incompatible with an earlier one of its subject, or the registry cannot read it.
type Refused struct {
	Subject string
	Answer  string
}

func (e *Refused) Error() string {
	return fmt.Sprintf("the schema registry refuses the schema of %s: %s", e.Subject, e.Answer)
}
