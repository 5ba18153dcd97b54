package execution

import (
	"fmt"
	"io"

	"netsim/simulator/units"
)

// Level is the severity of a log entry.
type Level int16

// The levels of log entries, ascending.
const (
	Debug Level = iota
	Info
	Warn
	Error
)

// String returns the level as it appears in logs.
func (l Level) String() string { return [...]string{"debug", "info", "warn", "error"}[l] }

// The components of log entries (completions.md 5.8).
const (
	Provisioner = "provisioner"
	Engine      = "engine"
	Rank        = "rank"
	Mapping     = "mapping"
)

// Entry is a log entry.
type Entry struct {
	At        int64 // simulated time, ps
	Level     Level
	Component string
	Message   string
}

// runLog writes run.log, and calls emit with every entry. The lines of run.log have
// only simulated time, so that a repeated run writes the same file.
type runLog struct {
	file io.WriteCloser
	err  error // the first write error
	emit func(Entry)
}

func (l *runLog) add(at int64, level Level, component, format string, args ...any) {
	e := Entry{at, level, component, fmt.Sprintf(format, args...)}
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.file, "%s %s %s %s\n", units.FormatDuration(at), level, component, e.Message)
	}
	if l.emit != nil {
		l.emit(e)
	}
}

func (l *runLog) close() error {
	if l.err != nil {
		return l.err
	}
	return l.file.Close()
}

// Describe logs a summary of the inputs before the run.
func (in *Inputs) Describe(emit func(Entry)) {
	add := func(level Level, format string, args ...any) {
		emit(Entry{0, level, Provisioner, fmt.Sprintf(format, args...)})
	}
	o := in.Order
	add(Info, "configuration %s version %d: %d switches, %d links, %d servers",
		o.ConfigurationID, o.ConfigurationVersion, in.Fabric.Switches(), len(in.Fabric.Links), len(in.Fabric.Hosts))
	if o.Traceset != nil {
		add(Info, "traceset %s: %d ranks, %d transfers", o.Traceset.ID, in.Ranks, in.Transfers)
	}
	if m := o.MappingFile; m != nil {
		emit(Entry{0, Info, Mapping, fmt.Sprintf("mapping file %s (%s) places the ranks", m.Title, m.ID)})
	}
	if in.replayed != nil {
		w := &in.replayed.warnings
		for _, text := range w.First {
			add(Warn, "%s", text)
		}
		if rest := w.Count - len(w.First); rest > 0 {
			add(Warn, "%d more warnings about the traces", rest)
		}
	}
	for i := range in.Traffic {
		t := &in.Traffic[i]
		add(Info, "application %s: %d clients, %d servers", t.Name, len(t.Clients), len(t.Servers))
	}
}
