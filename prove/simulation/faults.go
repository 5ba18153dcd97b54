//go:build faketime

package dst

import (
	"context"
	"runtime"
	"time"

	"netsim/events"
)

const (
	processes = 3
	clients   = 6
)

// pace is the mean pause between the operations of a client.
func (w *world) pace() time.Duration {
	if w.Sparse {
		return 24 * time.Second
	}
	return 400 * time.Millisecond
}

// healTime bounds how long it takes, once everything is healed, until all is judged,
// projected and reacted to.
const (
	healTime       = 10 * time.Minute
	sparseHealTime = time.Hour
)

// run runs the simulation to its end.
func (w *world) run() {
	for range processes {
		w.processes = append(w.processes, &process{})
	}
	p := &process{w: w, number: processes, host: hostOf(processes, 0)}
	w.net.up[p.host] = true
	if err := p.install(context.Background()); err != nil {
		w.fail("install: %v", err)
	}
	for i := range w.processes {
		w.start(i)
	}
	var hot []string
	for range 3 {
		hot = append(hot, events.NewID(events.WorkspacePrefix))
	}
	for range w.Rounds {
		until := w.now().Add(w.minutes(w.Busy))
		for i := range clients {
			c := &client{w: w, number: i, hot: hot}
			w.jobs++
			go func() {
				defer func() { w.jobs-- }()
				c.work(until)
			}()
		}
		often, seldom := 8*time.Second, 5*time.Minute
		if w.Sparse {
			often, seldom = 90*time.Second, 25*time.Minute
		}
		w.disturb(until, often)
		w.heal()
		w.disturb(w.now().Add(w.minutes(w.Quiet)), seldom)
		w.heal()
	}
	w.end()
	w.finish()
}

// disturb makes faults, one each mean on average.
func (w *world) disturb(until time.Time, mean time.Duration) {
	for {
		w.rest(time.Duration(w.random.Int64N(int64(2 * mean))))
		if !w.now().Before(until) {
			return
		}
		w.fault()
	}
}

// upTo returns a random duration of a fault.
func (w *world) upTo(d time.Duration) time.Duration {
	if w.Sparse {
		d *= 10
	}
	return time.Duration(w.random.Int64N(int64(d)))
}

// delay returns how long messages are delayed: about as long as a lease, or longer.
func (w *world) delay() time.Duration {
	if w.random.IntN(2) == 0 {
		return w.upTo(5 * time.Second)
	}
	return w.upTo(15 * time.Second)
}

// fault makes one fault. Faults overlap.
func (w *world) fault() {
	number := w.random.IntN(processes)
	p := w.processes[number]
	port := brokerPort
	if w.random.IntN(2) == 0 {
		port = databasePort
	}
	l := w.net.link(number, port)
	on := func(c *conn) bool { return c.link == l }
	count := func(name string) {
		w.counts.Faults[name]++
		w.event("fault: %s %s %s", name, p.name(), port)
	}
	switch w.random.IntN(13) {
	case 0:
		count("process killed")
		if p.alive {
			p.kill()
			time.AfterFunc(w.upTo(20*time.Second), func() { w.restart(number) })
		}
	case 1:
		count("process stopped")
		if p.alive {
			p.stop()
			time.AfterFunc(w.upTo(10*time.Second), func() { w.restart(number) })
		}
	case 2:
		count("connections cut")
		w.net.each(on, (*conn).cut)
	case 3:
		count("link down")
		l.cut = w.now().Add(w.upTo(15 * time.Second))
		w.net.each(on, (*conn).cut)
	case 4:
		count("requests delayed")
		l.toServer = w.now().Add(w.delay())
	case 5:
		count("answers delayed")
		l.toProcess = w.now().Add(w.delay())
	case 6:
		count("process paused")
		until := w.now().Add(w.upTo(20 * time.Second))
		for _, port := range []string{brokerPort, databasePort} {
			l := w.net.link(number, port)
			l.toServer, l.toProcess = until, until
		}
	case 7:
		count("link slow")
		l.slow, l.slowUntil = w.upTo(time.Second), w.now().Add(w.upTo(30*time.Second))
	case 8:
		count("database crashed")
		lost := w.db.crash(w.random.IntN(20))
		w.counts.LostCommits += lost
		w.event("the database has lost %d commits", lost)
		w.unreachable(databasePort, w.upTo(10*time.Second))
	case 9:
		count("broker restarted")
		w.broker.epoch++
		w.net.each(func(c *conn) bool { return c.port == brokerPort }, (*conn).reset)
		w.unreachable(brokerPort, w.upTo(10*time.Second))
	case 10:
		count("database clock jumped")
		w.db.skew += time.Duration(w.random.Int64N(int64(20*time.Second))) - 10*time.Second
	case 11:
		count("server slow")
		if port == brokerPort {
			w.brokerSlow = w.now().Add(w.upTo(20 * time.Second))
		} else {
			w.databaseSlow = w.now().Add(w.upTo(20 * time.Second))
		}
	case 12:
		count("answers lost")
		l.lossy = w.now().Add(w.upTo(20 * time.Second))
	}
}

// unreachable lets no process connect to a server for a while.
func (w *world) unreachable(port string, d time.Duration) {
	for number := range processes {
		w.net.link(number, port).cut = w.now().Add(d)
	}
}

func (w *world) restart(number int) {
	if !w.processes[number].alive {
		w.start(number)
	}
}

// heal ends all faults, waits until clients and lag have drained, and checks.
func (w *world) heal() {
	w.event("healed")
	for _, l := range w.net.links {
		*l = link{toServer: l.toServer, toProcess: l.toProcess} // what is delayed arrives
	}
	w.brokerSlow, w.databaseSlow = time.Time{}, time.Time{}
	for number := range w.processes {
		w.restart(number)
	}
	limit := healTime
	if w.Sparse {
		limit = sparseHealTime
	}
	deadline := w.now().Add(limit)
	for {
		w.rest(time.Second)
		why := w.drained()
		if why == "" && w.jobs > len(w.processes) {
			why = "clients or former processes have not ended"
		}
		if why == "" {
			break
		}
		if w.now().After(deadline) {
			w.failWithStacks("not drained %s after everything was healed: %s", limit, why)
		}
	}
	w.check()
}

// end stops all processes, and finds goroutines that are left.
func (w *world) end() {
	for _, p := range w.processes {
		p.stop()
	}
	for range 600 {
		w.rest(time.Second)
		if w.jobs == 0 && len(w.net.conns) == 0 {
			break
		}
	}
	if left := runtime.NumGoroutine(); left > 6 || w.jobs > 0 {
		w.failWithStacks("%d goroutines, %d jobs and %d connections are left", left, w.jobs, len(w.net.conns))
	}
}
