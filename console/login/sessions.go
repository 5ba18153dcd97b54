package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/fault"
	"netsim/infra/auth"
	"netsim/infra/wait"
	"netsim/infra/web"
)

const (
	// leaseTime is how long a process may take to refresh a token. It is longer than its call.
	leaseTime = issuerTimeout + 5*time.Second
	// restTime is how long no process refreshes after the issuer was away.
	restTime = 2 * time.Second
	// touchEvery is how exactly the last use of a session is known.
	touchEvery = time.Minute
	// earliness is how long before its end a token is refreshed, if it lasts for long.
	earliness = 30 * time.Second
)

// sessions are the sessions of all browsers.
type sessions struct {
	db         *pgxpool.Pool
	ring       *web.Ring
	issuer     *issuer
	verifier   *auth.Verifier
	now        func() time.Time
	log        *slog.Logger
	life, idle time.Duration
	perUser    int
}

// session is a session with its tokens.
type session struct {
	row
	tokens tokens
}

func (s *sessions) seal(hash []byte, t tokens) ([]byte, error) {
	text, err := json.Marshal(t)
	return s.ring.Seal(binding(hash), text), err
}

// open opens the tokens of a row. A row whose key is gone is no session any more.
func (s *sessions) open(r row) (*session, error) {
	opened := &session{row: r}
	text, ok := s.ring.Open(binding(r.Hash), r.Tokens)
	if !ok {
		return nil, errNoSession()
	}
	if err := json.Unmarshal(text, &opened.tokens); err != nil {
		return nil, fmt.Errorf("read the tokens of a session: %w", err)
	}
	return opened, nil
}

// binding makes sealed tokens useless in the row of another session.
func binding(hash []byte) []byte { return web.Binding("console session", string(hash)) }

// begin stores a session for the tokens of a login, and ends the browser's former one. The
// error is Forbidden if the API would refuse the access token.
func (s *sessions) begin(ctx context.Context, hash, former []byte, t tokens) (auth.Caller, error) {
	caller, ends, err := s.verifier.VerifyUntil(ctx, t.Access)
	if refused, is := errors.AsType[*fault.Fault](err); is && refused.Code == fault.Unauthorized {
		s.log.WarnContext(ctx, "the issuer gave a login an access token that the API refuses (docs/console.md)", "reason", err)
		return caller, &fault.Fault{Code: fault.Forbidden, Message: "the issuer's access token is not for this service: " + refused.Message, Cause: err}
	}
	switch {
	case err != nil:
		return caller, err
	case caller.Service:
		return caller, fault.New(fault.Forbidden, "the issuer's access token is a service's, and the console is for people")
	}
	now := s.now()
	r := row{Hash: hash, UserID: caller.UserID, UsedAt: now, CreatedAt: now, EndsAt: now.Add(s.life)}
	r.TokenEndsAt, r.RefreshAt = ends, refreshAt(now, ends)
	if t.Refresh == "" && ends.Before(r.EndsAt) {
		r.EndsAt, r.RefreshAt = ends, ends
	}
	r.ExpiresAt = earlier(r.EndsAt, now.Add(s.idle))
	if r.Tokens, err = s.seal(hash, t); err != nil {
		return caller, err
	}
	return caller, s.insert(ctx, r, former)
}

// refreshAt returns when a token that expires at the time is to be refreshed.
func refreshAt(now, ends time.Time) time.Time { return ends.Add(-min(earliness, ends.Sub(now)/4)) }

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// use returns a session with a valid access token, and notes its use. The error is
// Unauthorized when there is no such session, and Unavailable when the issuer or the database
// is away.
func (s *sessions) use(ctx context.Context, hash []byte) (*session, error) {
	found, err := s.current(ctx, hash)
	if err != nil {
		return nil, err
	}
	if now := s.now(); now.Sub(found.UsedAt) >= min(touchEvery, s.idle/8) {
		found.UsedAt, found.ExpiresAt = now, earlier(found.EndsAt, now.Add(s.idle))
		if err := s.touch(ctx, found.row); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// current returns a session with a valid access token.
func (s *sessions) current(ctx context.Context, hash []byte) (*session, error) {
	began := s.now()
	for pauses := wait.Doubling(20*time.Millisecond, 250*time.Millisecond); ; {
		r, err := s.find(ctx, hash)
		if err != nil {
			return nil, err
		}
		found, err := s.open(r)
		if err != nil {
			return nil, err
		}
		now := s.now()
		if now.Before(found.RefreshAt) || found.tokens.Refresh == "" {
			return found, nil
		}
		fresh, err := s.refresh(ctx, found)
		switch {
		case err == nil:
			return fresh, nil
		case (errors.Is(err, errLeased) || fault.Is(err, fault.Unavailable)) && now.Before(found.TokenEndsAt):
			return found, nil
		case !errors.Is(err, errLeased):
			return nil, err
		case now.Sub(began) > leaseTime:
			return nil, away(err)
		}
		if err := wait.For(ctx, pauses.NextBackOff()); err != nil {
			return nil, err
		}
	}
}

// errLeased means that another process refreshes the tokens of the session, or has.
var errLeased = errors.New("the tokens of the session are being refreshed")

// refresh refreshes the tokens of a session. The error is errLeased unless the caller gets
// the lease. The work does not end with the request: a refresh token that the issuer has
// replaced and nobody stored would end the session.
func (s *sessions) refresh(ctx context.Context, old *session) (*session, error) {
	if err := s.lease(ctx, old.row); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTime)
	defer cancel()
	fresh := *old
	var err error
	fresh.tokens, err = s.issuer.refresh(ctx, old.tokens)
	switch {
	case isRefused(err):
		s.log.InfoContext(ctx, "the issuer ended a session of the console", "caller", old.UserID, "reason", err)
		return nil, s.end(ctx, old.row)
	case err != nil:
		s.log.WarnContext(ctx, "the access token of a session was not refreshed", "error", err)
		return nil, errors.Join(err, s.rest(ctx, old.row))
	}
	caller, ends, refused := s.verifier.VerifyUntil(ctx, fresh.tokens.Access)
	now := s.now()
	fresh.TokenEndsAt, fresh.RefreshAt = ends, refreshAt(now, ends)
	if refused == nil && (caller.UserID != old.UserID || caller.Service) {
		refused = fault.New(fault.Unauthorized, "the access token is of another user")
	}
	switch {
	case fault.Is(refused, fault.Unauthorized):
		s.log.WarnContext(ctx, "the issuer refreshed a token with one that is refused; the session ends", "caller", old.UserID, "reason", refused)
		return nil, s.end(ctx, old.row)
	case refused != nil: // it cannot be known; the new refresh token is kept
		fresh.TokenEndsAt, fresh.RefreshAt = now, now
	}
	if fresh.row.Tokens, err = s.seal(old.Hash, fresh.tokens); err != nil {
		return nil, err
	}
	fresh.Generation++
	if err := s.replace(ctx, fresh.row); err != nil {
		return nil, err
	}
	if refused != nil {
		return nil, refused
	}
	return &fresh, nil
}

// end deletes the row of a session whose refresh was refused, and returns the error for the
// request. A row that another process has refreshed meanwhile stays.
func (s *sessions) end(ctx context.Context, r row) error {
	deleted, err := s.remove(ctx, r)
	switch {
	case err != nil:
		return err
	case !deleted:
		return errLeased
	}
	return errNoSession()
}
