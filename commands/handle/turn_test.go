package handle_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
)

// turns are the turns of several processes on one stream.
type turns struct{ free chan struct{} }

func newTurns() turns {
	l := turns{make(chan struct{}, 1)}
	l.free <- struct{}{}
	return l
}

func (l turns) take(ctx context.Context, _ string) (func(), error) {
	select {
	case <-l.free:
		return func() { l.free <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// notFacts returns how many records of the log are not facts.
func (m *memory) notFacts() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.records {
		if r.verdict != events.Accepted {
			n++
		}
	}
	return n
}

// TestProcessesTakeTurns: three processes that change one stream, alone and many commands
// together, lose only the records that they append before each knows of the others. Without turns some
// commands lose so often that they end with a conflict.
func TestProcessesTakeTurns(t *testing.T) {
	t.Parallel()
	const batches, together, single = 12, 20, 30
	contend := func(t *testing.T, inTurn bool) (notFacts int) {
		synctest.Test(t, func(t *testing.T) {
			all := newTurns()
			first := newProcess(t)
			first.log.delay = func() time.Duration { return 10 * time.Millisecond }
			var writers sync.WaitGroup
			for n := range 3 {
				p := first.another()
				if inTurn {
					p.handler.Turn = all.take
				}
				writers.Go(func() {
					for i := range batches {
						var all []handle.Sent[commands.Workspace]
						for j := range together {
							all = append(all, handle.Sent[commands.Workspace]{
								From:    handle.Origin{CommandID: fmt.Sprint(n, "/", i, "/", j)},
								Command: commands.UpdateWorkspace{ID: p.id, Name: fmt.Sprint(n, i, j)},
							})
						}
						if _, err := handle.All(t.Context(), p.handler, handle.Target{Stream: p.id, PartitionKey: p.id}, all); err != nil && inTurn {
							t.Error(err)
						}
					}
				})
				writers.Go(func() {
					for i := range single {
						if _, err := p.rename(fmt.Sprint(n, " alone ", i)); err != nil && inTurn {
							t.Error(err)
						}
					}
				})
			}
			writers.Wait()
			first.log.verdicts()
			if facts, want := len(first.log.records)-first.log.notFacts(), 1+3*(batches*together+single); inTurn && facts != want {
				t.Errorf("%d facts, want %d", facts, want)
			}
			notFacts = first.log.notFacts()
		})
		return notFacts
	}
	const known = 3 * (together + 1) // of each process what is under way when the first record is lost
	if n := contend(t, true); n > known {
		t.Errorf("with turns %d records are not facts, want at most %d", n, known)
	}
	if n := contend(t, false); n <= known {
		t.Errorf("without turns only %d records are not facts: the test shows nothing", n)
	}
}

// TestATurnIsNotNeeded: commands run, once, when no turn can be had.
func TestATurnIsNotNeeded(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]func(context.Context, string) (func(), error){
		"refused": func(context.Context, string) (func(), error) { return nil, errors.New("no session") },
		"never":   func(ctx context.Context, _ string) (func(), error) { <-ctx.Done(); return nil, ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newProcess(t)
				p.handler.Turn = turn
				asked := 0
				p.handler.Turn = func(ctx context.Context, stream string) (func(), error) { asked++; return turn(ctx, stream) }
				p.log.beforeAppend = sync.OnceFunc(func() { p.log.foreign(t, p.id, events.WorkspaceUpdated{Name: "foreign"}) })
				if _, err := p.renames(0, 40); err != nil {
					t.Error(err)
				}
				if w := p.log.workspace(p.id); w.Name != "name 39" || asked == 0 {
					t.Errorf("the workspace is %+v after %d turns", w, asked)
				}
			})
		})
	}
}

// TestATurnThatNeverComes: after one command has waited in vain for the turn of a process
// that is suspended, those after it do not wait for a time, single or together; then they ask
// again.
func TestATurnThatNeverComes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t)
		asked := 0
		p.handler.Turn = func(ctx context.Context, _ string) (func(), error) { asked++; <-ctx.Done(); return nil, ctx.Err() }
		began := time.Now()
		for i := range 5 {
			if _, err := p.renames(40*i, 40*i+40); err != nil {
				t.Error(err)
			}
			if _, err := p.rename(fmt.Sprint("alone ", i)); err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(began); took > 6*time.Second || asked != 1 {
			t.Errorf("ten times commands took %s and asked for %d turns", took, asked)
		}
		<-time.After(11 * time.Second)
		if _, err := p.renames(200, 240); err != nil || asked != 2 {
			t.Errorf("later %d turns were asked for: %v", asked, err)
		}
	})
}

// TestATurnEnds: the commands of a process join its turn for a while, and not for as long as
// there are any, so that another process gets one.
func TestATurnEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t)
		p.log.delay = func() time.Duration { return 10 * time.Millisecond }
		l := newTurns()
		p.handler.Turn = l.take
		p.log.beforeAppend = sync.OnceFunc(func() { p.log.foreign(t, p.id, events.WorkspaceUpdated{Name: "foreign"}) })
		ctx, stop := context.WithCancel(t.Context())
		var writers sync.WaitGroup
		for n := range 8 { // there is always one that has not its verdict yet
			writers.Go(func() {
				<-time.After(time.Duration(n) * 3 * time.Millisecond)
				for i := 0; ctx.Err() == nil; i++ {
					if _, err := p.rename(fmt.Sprint(n, i)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for range 5 {
			<-time.After(100 * time.Millisecond)
			waiting, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			release, err := l.take(waiting, p.id)
			cancel()
			if err != nil {
				t.Errorf("the other process gets no turn: %v", err)
				continue
			}
			release()
		}
		stop()
		writers.Wait()
		if n := p.log.notFacts(); n > 8 {
			t.Errorf("%d records are not facts, want only those before the first turn", n)
		}
	})
}

// TestATurnBeginsWithTheHeadOfTheOthers: a command that has waited for a turn loads the
// stream, although its process had a tip before the others appended.
func TestATurnBeginsWithTheHeadOfTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t)
		asked := 0
		p.handler.Turn = func(context.Context, string) (func(), error) {
			if asked++; asked == 3 {
				p.log.foreign(t, p.id, events.WorkspaceUpdated{Name: "of the others"})
				p.log.verdicts()
			}
			return func() {}, nil
		}
		p.log.beforeAppend = sync.OnceFunc(func() { p.log.foreign(t, p.id, events.WorkspaceUpdated{Name: "foreign"}) })
		if _, err := p.rename("contended"); err != nil {
			t.Fatal(err)
		}
		open := p.log.shut()
		first := begin(func() (handle.Result, error) { return p.rename("in the second turn") })
		<-time.After(time.Second)
		second := begin(func() (handle.Result, error) { return p.rename("in the third turn") })
		open()
		for _, done := range []<-chan answer{first, second} {
			if a := <-done; a.err != nil {
				t.Error(a.err)
			}
		}
		if n := p.log.notFacts(); n != 1 || asked != 3 {
			t.Errorf("%d records are not facts after %d turns, want only the first command's", n, asked)
		}
	})
}
