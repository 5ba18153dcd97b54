//go:build faketime

package dst

import (
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
)

// database is a simulated PostgreSQL: it speaks the protocol, knows the statements that
// the core sends (statements.go), and holds their tables. A transaction takes effect at
// one instant, at its commit.
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
	explicit  bool      // BEGIN was sent
	broken    bool      // the transaction failed
	work      []*portal // what the transaction that was begun has done
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
			if d.w.pauseDatabase(); d.sessions[s.pid] != s {
				return
			}
			s.sync(work)
			work, bound = nil, nil
		case *pgproto3.Query:
			if d.w.pauseDatabase(); d.sessions[s.pid] != s {
				return
			}
			s.simple(m.String)
		case *pgproto3.Terminate:
			return
		case *pgproto3.Flush:
		default:
			d.w.fail("the database got an unknown message %T", m)
			return
		}
		// A session that is not in the map has ended with a crash of the database.
		if d.sessions[s.pid] != s {
			return
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
