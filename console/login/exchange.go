package login

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"netsim/fault"
	"netsim/infra/auth"
)

// sessionTimeout bounds how long a request waits for its session, with a refresh of its token.
const sessionTimeout = leaseTime + 5*time.Second

// SameOrigin refuses requests that change something and come from a page of another origin.
func (l *Login) SameOrigin(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	if at, err := url.Parse(l.URL); err == nil {
		// Behind a router the host of a request can be another one than the browser's.
		_ = protection.AddTrustedOrigin(at.Scheme + "://" + at.Host)
	}
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.Fail(w, r, fault.New(fault.Forbidden, "the request comes from a page of another origin"))
	}))
	return protection.Handler(next)
}

// API serves /console/api/… with the API's handler: the path loses /console, and the access
// token of the session takes the place of the cookie. The request ends with its session.
func (l *Login) API(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, has := r.Header["Authorization"]; has {
			l.Fail(w, r, fault.New(fault.Validation, "the authorization header is for /api; requests of the console have a cookie"))
			return
		}
		found, err := l.used(r)
		if err != nil {
			l.refuse(w, r, err)
			return
		}
		recheck := func(ctx context.Context) error {
			now, err := l.bounded(ctx, found.Hash, l.sessions.current)
			if err == nil {
				_, err = l.Verifier.Verify(ctx, now.tokens.Access)
			}
			return err
		}
		ctx, stop := l.whileValid(auth.WithRecheck(r.Context(), recheck), found.Hash)
		defer stop()
		r = r.Clone(ctx)
		r.Header.Set("Authorization", "Bearer "+found.tokens.Access)
		r.Header.Del("Cookie")
		r.URL.Path = strings.TrimPrefix(r.URL.Path, "/console")
		r.URL.RawPath = strings.TrimPrefix(r.URL.RawPath, "/console")
		api.ServeHTTP(w, r)
	})
}

// used returns the session of a request, and notes its use.
func (l *Login) used(r *http.Request) (*session, error) {
	hash, err := l.cookie.sessionOf(r)
	if err != nil {
		return nil, err
	}
	return l.bounded(r.Context(), hash, l.sessions.use)
}

// bounded is use or current of sessions with a timeout.
func (l *Login) bounded(ctx context.Context, hash []byte, find func(context.Context, []byte) (*session, error)) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, sessionTimeout)
	defer cancel()
	found, err := find(ctx, hash)
	return found, late(err)
}

// Bound is the middleware that bounds the time of a request of the console itself.
func Bound(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), sessionTimeout)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// refuse answers a request with an error.
func (l *Login) refuse(w http.ResponseWriter, r *http.Request, err error) { l.Fail(w, r, late(err)) }

// late turns the error of a timeout into Unavailable: nothing has been decided about the
// session.
func late(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &fault.Fault{Code: fault.Unavailable, Message: "the session could not be read in time; repeat the request", RetryAfter: time.Second, Cause: err}
	}
	return err
}

// whileValid returns a context that ends when the session has ended. A session whose row
// cannot be read has not.
func (l *Login) whileValid(ctx context.Context, hash []byte) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		every := time.NewTicker(l.Watch)
		defer every.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-every.C:
			}
			if _, err := l.sessions.find(ctx, hash); fault.Is(err, fault.Unauthorized) {
				cancel()
				return
			}
		}
	}()
	return ctx, cancel
}
