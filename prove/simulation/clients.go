//go:build faketime

package dst

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
)

// rename sets the name of a workspace, and makes the workspace if it does not exist.
type rename struct{ name string }

// Decide implements commands.Command.
func (c rename) Decide(s *commands.Workspace, _ time.Time) (events.Data, error) {
	if !s.Exists {
		return events.WorkspaceCreated{AccountID: "acct", Name: c.name, Owner: "tester"}, nil
	}
	if s.Name == c.name {
		return nil, nil
	}
	return events.WorkspaceUpdated{Name: c.name}, nil
}

// mirror is the reaction of the simulation: each fact that a client caused sets the name
// of another workspace in the same partition, once.
func (p *process) mirror(ctx context.Context, f events.Fact) error {
	if f.CauseID != "" {
		return nil
	}
	if p.w.random.IntN(50) == 0 {
		return errors.New("a reaction fails now and then")
	}
	to := handle.Target{Stream: mirrorOf(f.Stream), PartitionKey: f.PartitionKey}
	_, err := handle.Command(ctx, p.handler, to, handle.Because(&f, "mirror "+strconv.FormatInt(f.Sequence, 10)), rename{f.ID})
	if err == nil {
		p.w.counts.Reactions++
	}
	return err
}

func mirrorOf(stream string) string {
	return events.DerivedID(events.WorkspacePrefix, stream, "mirror")
}

// client does operations one after the other, on a few busy workspaces and many others,
// each attempt through a process that is up, as behind a load balancer.
type client struct {
	w      *world
	number int
	hot    []string
	made   []string
}

func (c *client) work(until time.Time) {
	for n := 0; c.w.now().Before(until); n++ {
		switch stream := c.stream(); c.w.random.IntN(10) {
		case 0, 1, 2:
			c.read(stream)
		case 3:
			c.writeMany(stream, n)
		default:
			c.write(stream, n)
		}
		time.Sleep(time.Duration(c.w.random.Int64N(int64(2 * c.w.pace()))))
	}
}

// stream chooses a workspace.
func (c *client) stream() string {
	switch n := c.w.random.IntN(10); {
	case n < 6 || n < 8 && len(c.made) == 0:
		return c.hot[c.w.random.IntN(len(c.hot))]
	case n < 8:
		return c.made[c.w.random.IntN(len(c.made))]
	}
	id := events.NewID(events.WorkspacePrefix)
	c.made = append(c.made, id)
	return id
}

// process returns a process that is ready, after a while if none is.
func (w *world) process() *process {
	for range 1000 {
		if p := w.processes[w.random.IntN(len(w.processes))]; p.ready {
			return p
		}
		time.Sleep(100 * time.Millisecond)
	}
	return nil
}

// attempts bounds how often a client tries, with pauses of a second on average.
const attempts = 40

// again waits before another attempt. It fails the simulation for an error that no fault
// explains.
func (w *world) again(err error) {
	w.counts.Unknown++
	switch {
	case fault.Is(err, fault.Unknown(nil).Code), fault.Is(err, fault.Unavailable), fault.Is(err, fault.Conflict), fault.CodeOf(err) == fault.Internal:
	default:
		w.fail("an operation is refused: %v", err)
	}
	time.Sleep(time.Duration(w.random.Int64N(int64(2 * time.Second))))
}

func (c *client) write(stream string, n int) {
	h := c.w.truth.history(stream)
	floor := h.floor
	from := handle.Origin{Actor: "tester", CommandID: fmt.Sprintf("%d/%d/%d", c.number, n, c.w.now().UnixNano()), CommandDigest: "body"}
	for range attempts {
		p := c.w.process()
		if p == nil {
			return
		}
		before := len(h.facts)
		r, err := handle.Command(context.Background(), p.handler, handle.Target{Stream: stream, PartitionKey: stream}, from, rename{from.CommandID})
		c.w.contended(h, before, err)
		if !p.alive {
			err = errors.New("the process was killed")
		}
		if err == nil {
			c.w.counts.Operations++
			c.w.accepted(h, from.CommandID, floor, r)
			return
		}
		c.w.again(err)
	}
}

// writeMany sends several commands at once, as metering does.
func (c *client) writeMany(stream string, n int) {
	h := c.w.truth.history(stream)
	floor := h.floor
	all := make([]handle.Sent[commands.Workspace], 3)
	for i := range all {
		id := fmt.Sprintf("%d/%d/%d/%d", c.number, n, i, c.w.now().UnixNano())
		all[i] = handle.Sent[commands.Workspace]{From: handle.Origin{Actor: "tester", CommandID: id, CommandDigest: "body"}, Command: rename{id}}
	}
	for range attempts {
		p := c.w.process()
		if p == nil {
			return
		}
		before := len(h.facts)
		results, errs := handle.Each(context.Background(), p.handler, handle.Target{Stream: stream, PartitionKey: stream}, all)
		if !p.alive {
			c.w.again(errors.New("the process was killed"))
			continue
		}
		var left []handle.Sent[commands.Workspace]
		for i, err := range errs {
			if err != nil {
				c.w.contended(h, before, err)
				left = append(left, all[i])
				continue
			}
			c.w.counts.Operations++
			c.w.accepted(h, all[i].From.CommandID, floor, results[i])
		}
		if all = left; len(all) == 0 {
			return
		}
		c.w.again(errors.New("some commands have no answer"))
	}
}

// read reads the state of a workspace, or its view.
func (c *client) read(stream string) {
	h := c.w.truth.history(stream)
	if len(h.facts) == 0 {
		return
	}
	floor := h.floor
	for range attempts {
		p := c.w.process()
		if p == nil {
			return
		}
		sequence, name, changes, err := p.see(stream, c.w.random.IntN(2) == 0)
		if !p.alive || p.watcher.Behind() {
			err = errors.New("the process was killed, or its read model is behind")
		}
		if err == nil {
			c.w.counts.Operations++
			c.w.shown(h, floor, sequence, name, changes)
			return
		}
		c.w.again(err)
	}
}

func (p *process) see(stream string, view bool) (sequence int64, name string, changes int64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if view {
		err = p.reads.QueryRow(ctx, `SELECT sequence, name, changes FROM views WHERE stream = $1`, stream).Scan(&sequence, &name, &changes)
		if errors.Is(err, pgx.ErrNoRows) {
			err = nil
		}
		return sequence, name, changes, err
	}
	s, err := p.log.Load(ctx, stream, "")
	if err != nil {
		return 0, "", 0, err
	}
	state, err := commands.ReadState(stream, s.State)
	if err != nil {
		return 0, "", 0, err
	}
	was := state.(*commands.Workspace) //nolint:forcetypeassert // the stream is a workspace
	return s.Head.Sequence, was.Name, was.Version, nil
}
