//go:build faketime

package dst

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

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
	var err error
	if s.explicit {
		err = s.executeUncommitted(c)
	} else {
		err = p.run(c)
	}
	if err != nil {
		return err
	}
	tag := p.tag
	if strings.HasSuffix(tag, "%d") {
		tag = fmt.Sprintf(tag, c.count)
	}
	s.send(&pgproto3.CommandComplete{CommandTag: []byte(tag)})
	return nil
}

// executeUncommitted runs a statement of a transaction that was begun. The other sessions
// see nothing of the transaction before its commit, so all its statements run again for
// each statement and for the commit, and are taken back in between.
func (s *session) executeUncommitted(c *call) error {
	err := s.repeat()
	if err == nil {
		err = c.run(c)
	}
	undoAll(s.undo)
	s.undo, s.notices = nil, nil
	if err == nil {
		s.work = append(s.work, c.portal)
	}
	return err
}

// repeat runs what the transaction has done again.
func (s *session) repeat() error {
	for _, p := range s.work {
		if err := p.run(&call{session: s, portal: p, quiet: true}); err != nil {
			return err
		}
	}
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
	s.clear()
}

func (s *session) rollback() {
	undoAll(s.undo)
	s.clear()
}

func (s *session) clear() {
	s.undo, s.notices, s.work, s.explicit, s.broken = nil, nil, nil, false, false
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
		} else if err := s.repeat(); err != nil {
			s.refuse(err)
			s.rollback()
			break
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
	count int  // of rows
	quiet bool // no rows are sent
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
	if !c.quiet {
		c.send(&pgproto3.DataRow{Values: out})
	}
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
