//go:build faketime

package dst

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
)

// database is a simulated PostgreSQL: it speaks the protocol, knows the statements that
// the core sends (statements_test.go), and holds their tables. A transaction takes
// effect at one instant, when its last statement has arrived.
type database struct {
	w        *world
	tables   *tables
	types    *pgtype.Map
	known    map[string]*statement // by text
	sessions map[int32]*session
	backend  int32
	started  time.Time // when this run began
	skew     time.Duration
	commits  []commitRecord // the last ones, which a crash can lose
	locks    map[string]*session
	unlocked chan struct{} // closed when a lock is released
}

// commitRecord is a commit that is not on disk: synchronous_commit is off.
type commitRecord struct {
	at   time.Time
	undo []func()
}

// unflushed is how long PostgreSQL can take to write a commit to disk: three times
// wal_writer_delay.
const unflushed = 600 * time.Millisecond

func newDatabase(w *world) *database {
	d := &database{w: w, types: pgtype.NewMap(), known: map[string]*statement{}, sessions: map[int32]*session{}, locks: map[string]*session{}, unlocked: make(chan struct{})}
	d.tables = newTables()
	d.started = w.now()
	return d
}

// now is the clock of the database, which may be off.
func (d *database) now() time.Time { return d.w.now().Add(d.skew) }

// session is a connection.
type session struct {
	d         *database
	c         *conn
	backend   *pgproto3.Backend
	pid       int32
	name      string // application_name
	listening bool
	prepared  map[string]*prepared
	explicit  bool // BEGIN was sent
	broken    bool // the transaction failed
	undo      []func()
	notices   []string // of the transaction
}

type prepared struct {
	*statement
	text string
}

// portal is a statement with its parameters.
type portal struct {
	*prepared
	formats []int16
	values  [][]byte
	results []int16
}

// serve runs a session.
func (d *database) serve(c *conn) {
	defer c.Close()
	s := &session{d: d, c: c, backend: pgproto3.NewBackend(c, c), prepared: map[string]*prepared{}}
	start, err := s.backend.ReceiveStartupMessage()
	if err != nil {
		return
	}
	hello, ok := start.(*pgproto3.StartupMessage)
	if !ok {
		return // a request to cancel, which comes too late
	}
	d.backend++
	s.pid, s.name = d.backend, hello.Parameters["application_name"]
	d.sessions[s.pid] = s
	defer d.ended(s)
	s.send(&pgproto3.AuthenticationOk{}, &pgproto3.ParameterStatus{Name: "server_version", Value: "17.0"},
		&pgproto3.ParameterStatus{Name: "client_encoding", Value: "UTF8"}, &pgproto3.ParameterStatus{Name: "standard_conforming_strings", Value: "on"},
		&pgproto3.BackendKeyData{ProcessID: uint32(s.pid), SecretKey: []byte{0, 0, 0, 1}})
	s.ready()
	var work []any // since the last Sync
	var bound *portal
	for {
		m, err := s.backend.Receive()
		if err != nil {
			return
		}
		switch m := m.(type) {
		case *pgproto3.Parse:
			p := &prepared{statement: d.find(m.Query), text: m.Query}
			work = append(work, func() error {
				if p.statement == nil {
					d.w.fail("the database does not know the statement: %s", m.Query)
				}
				return nil
			})
			s.prepared[m.Name] = p
			work = append(work, &pgproto3.ParseComplete{})
		case *pgproto3.Describe:
			p := s.prepared[m.Name]
			if m.ObjectType == 'P' && bound != nil {
				p = bound.prepared
			}
			if p == nil || p.statement == nil {
				d.w.fail("a description of the unknown statement %q", m.Name)
				return
			}
			if m.ObjectType == 'S' {
				work = append(work, &pgproto3.ParameterDescription{ParameterOIDs: p.params})
			}
			work = append(work, p.description(bound))
		case *pgproto3.Bind:
			bound = &portal{prepared: s.prepared[m.PreparedStatement], formats: append([]int16(nil), m.ParameterFormatCodes...), results: append([]int16(nil), m.ResultFormatCodes...)}
			for _, v := range m.Parameters {
				if v != nil {
					v = append([]byte{}, v...)
				}
				bound.values = append(bound.values, v)
			}
			work = append(work, &pgproto3.BindComplete{})
		case *pgproto3.Execute:
			work = append(work, bound)
		case *pgproto3.Close:
			delete(s.prepared, m.Name)
			work = append(work, &pgproto3.CloseComplete{})
		case *pgproto3.Sync:
			d.w.pauseDatabase()
			s.sync(work)
			work, bound = nil, nil
		case *pgproto3.Query:
			d.w.pauseDatabase()
			s.simple(m.String)
		case *pgproto3.Terminate:
			return
		case *pgproto3.Flush:
		default:
			d.w.fail("the database got an unknown message %T", m)
			return
		}
		if d.sessions[s.pid] != s {
			return // the database has crashed
		}
	}
}

func (d *database) ended(s *session) {
	if d.sessions[s.pid] == s {
		s.rollback()
		delete(d.sessions, s.pid)
	}
	for name, holder := range d.locks {
		if holder == s {
			delete(d.locks, name)
		}
	}
	d.wakeLockers()
}

func (d *database) wakeLockers() {
	close(d.unlocked)
	d.unlocked = make(chan struct{})
}

func (s *session) send(all ...pgproto3.BackendMessage) {
	for _, m := range all {
		s.backend.Send(m)
	}
}

func (s *session) ready() {
	status := byte('I')
	if s.explicit {
		status = 'T'
	}
	if s.explicit && s.broken {
		status = 'E'
	}
	s.send(&pgproto3.ReadyForQuery{TxStatus: status})
	_ = s.backend.Flush() // the next read fails
}

// sqlError is an error of PostgreSQL.
type sqlError struct{ code, message string }

func (e *sqlError) Error() string { return e.code + ": " + e.message }

// sync runs what was sent since the last Sync, as a transaction of its own unless one
// was begun.
func (s *session) sync(work []any) {
	for _, one := range work {
		switch one := one.(type) {
		case pgproto3.BackendMessage:
			s.send(one)
		case func() error:
			_ = one()
		case *portal:
			if err := s.execute(one); err != nil {
				s.refuse(err)
				s.ready()
				return
			}
		}
	}
	if !s.explicit {
		s.commit()
	}
	s.ready()
}

func (s *session) refuse(err error) {
	refusal := &sqlError{"XX000", err.Error()}
	errors.As(err, &refusal)
	s.d.w.event("session %d: %s", s.pid, refusal)
	s.send(&pgproto3.ErrorResponse{Severity: "ERROR", Code: refusal.code, Message: refusal.message})
	s.broken = s.explicit
	if !s.explicit {
		s.rollback()
	}
}

// execute runs a statement.
func (s *session) execute(p *portal) error {
	if s.broken {
		return &sqlError{"25P02", "current transaction is aborted"}
	}
	c := &call{session: s, portal: p}
	if err := p.run(c); err != nil {
		return err
	}
	tag := p.tag
	if strings.HasSuffix(tag, "%d") {
		tag = fmt.Sprintf(tag, c.count)
	}
	s.send(&pgproto3.CommandComplete{CommandTag: []byte(tag)})
	return nil
}

// commit ends a transaction. Its notifications go out with it.
func (s *session) commit() {
	d := s.d
	if len(s.undo) > 0 {
		now := d.w.now()
		for len(d.commits) > 0 && now.Sub(d.commits[0].at) > unflushed {
			d.commits = d.commits[1:]
		}
		d.commits = append(d.commits, commitRecord{now, s.undo})
	}
	for _, text := range s.notices {
		var pids []int
		for pid, other := range d.sessions {
			if other.listening {
				pids = append(pids, int(pid))
			}
		}
		sortBy(pids, func(pid int) int { return pid })
		for _, pid := range pids {
			other := d.sessions[int32(pid)]
			other.send(&pgproto3.NotificationResponse{PID: uint32(s.pid), Channel: "netsim_readmodel", Payload: text})
			if other != s {
				_ = other.backend.Flush()
			}
		}
	}
	s.undo, s.notices, s.explicit, s.broken = nil, nil, false, false
}

func (s *session) rollback() {
	undoAll(s.undo)
	s.undo, s.notices, s.explicit, s.broken = nil, nil, false, false
}

func undoAll(undo []func()) {
	for i := len(undo) - 1; i >= 0; i-- {
		undo[i]()
	}
}

// simple runs statements without parameters.
func (s *session) simple(text string) {
	d := s.d
	switch word := strings.ToLower(strings.TrimSpace(text)); {
	case strings.HasPrefix(word, "-- ping"), word == ";":
		s.send(&pgproto3.EmptyQueryResponse{})
	case strings.HasPrefix(word, "begin"):
		s.explicit = true
		s.send(&pgproto3.CommandComplete{CommandTag: []byte("BEGIN")})
	case word == "commit":
		tag := "COMMIT"
		if s.broken {
			tag = "ROLLBACK"
			s.rollback()
		}
		s.commit()
		s.send(&pgproto3.CommandComplete{CommandTag: []byte(tag)})
	case word == "rollback":
		s.rollback()
		s.send(&pgproto3.CommandComplete{CommandTag: []byte("ROLLBACK")})
	default:
		found := d.find(text)
		if found == nil {
			d.w.fail("the database does not know the statement: %s", text)
			return
		}
		p := &portal{prepared: &prepared{statement: found, text: text}}
		if len(found.columns) > 0 {
			s.send(p.description(p))
		}
		if err := s.execute(p); err != nil {
			s.refuse(err)
		} else if !s.explicit {
			s.commit()
		}
	}
	s.ready()
}

// description describes the result of a statement, in the formats of the portal, if
// there is one.
func (p *prepared) description(bound *portal) pgproto3.BackendMessage {
	if len(p.columns) == 0 {
		return &pgproto3.NoData{}
	}
	var fields []pgproto3.FieldDescription
	for i, oid := range p.columns {
		f := pgproto3.FieldDescription{Name: []byte(fmt.Sprint("c", i)), DataTypeOID: oid, DataTypeSize: -1, TypeModifier: -1}
		if bound != nil {
			f.Format = bound.format(i)
		}
		fields = append(fields, f)
	}
	return &pgproto3.RowDescription{Fields: fields}
}

// format returns the format of a column of the result.
func (p *portal) format(i int) int16 {
	switch len(p.results) {
	case 0:
		return 0
	case 1:
		return p.results[0]
	}
	return p.results[i]
}

// call is a running statement.
type call struct {
	*session
	*portal
	count int // of rows
}

// get decodes a parameter.
func get[T any](c *call, i int) (v T) {
	format := int16(0)
	switch len(c.formats) {
	case 0:
	case 1:
		format = c.formats[0]
	default:
		format = c.formats[i]
	}
	if err := c.session.d.types.Scan(c.params[i], format, c.values[i], &v); err != nil {
		c.session.d.w.fail("parameter $%d of %s: %v", i+1, c.text, err)
	}
	return v
}

// row returns a row of the result.
func (c *call) row(values ...any) {
	out := make([][]byte, len(values))
	for i, v := range values {
		if v == nil {
			continue
		}
		b, err := c.session.d.types.Encode(c.columns[i], c.format(i), v, []byte{})
		if err != nil {
			c.session.d.w.fail("column %d of %s: %v", i, c.text, err)
		}
		out[i] = b
	}
	c.count++
	c.send(&pgproto3.DataRow{Values: out})
}

// done remembers how to take back what the statement did.
func (c *call) done(undo func()) { c.session.undo = append(c.session.undo, undo) }

// lock takes a lock of the session, and waits for it.
func (s *session) lock(name string) error {
	for s.d.locks[name] != nil && s.d.locks[name] != s {
		unlocked := s.d.unlocked
		timer := time.NewTimer(time.Minute)
		select {
		case <-unlocked:
		case <-timer.C:
			return &sqlError{"57014", "the lock was not released within a minute"}
		}
		timer.Stop()
		if s.d.sessions[s.pid] != s || s.c.err != nil {
			return &sqlError{"57P01", "the session has ended"}
		}
	}
	s.d.locks[name] = s
	return nil
}

func (s *session) unlock(name string) {
	if s.d.locks[name] == s {
		delete(s.d.locks, name)
		s.d.wakeLockers()
	}
}

// crash ends all sessions and takes back the last commits, at most as many as PostgreSQL
// may lose. Another run begins.
func (d *database) crash(lose int) (lost int) {
	for _, s := range d.sessions {
		undoAll(s.undo)
		s.undo = nil
	}
	now := d.w.now()
	for lost < lose && len(d.commits) > 0 {
		last := d.commits[len(d.commits)-1]
		if now.Sub(last.at) > unflushed {
			break
		}
		undoAll(last.undo)
		d.commits = d.commits[:len(d.commits)-1]
		lost++
	}
	d.commits = nil
	d.sessions = map[int32]*session{}
	d.locks = map[string]*session{}
	d.wakeLockers()
	d.tables.recovered = time.Time{}
	d.started = d.now()
	d.w.net.each(func(c *conn) bool { return c.port == databasePort }, (*conn).reset)
	return lost
}

var _ = context.Background
