package service

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"netsim/console"
	"netsim/console/login"
	"netsim/infra/web"
)

// webConsole is what the API's listener serves to browsers.
type webConsole struct {
	*login.Login
	files *console.Files
}

// console returns the console of the settings, nil if none is served.
func (s *process) console() (*webConsole, error) {
	c := &s.config
	if !c.ServesConsole() {
		return nil, nil
	}
	secrets, err := s.secrets()
	if err != nil {
		return nil, err
	}
	logins, err := login.New(login.Config{
		URL: c.ConsoleURL, ObjectStore: originOf(c.S3Endpoint), Release: s.build.Version,
		Issuer: c.Issuer, Discovery: c.ConsoleDiscovery, ClientID: c.ConsoleClient, ClientSecret: c.ConsoleSecret,
		Scopes: c.ConsoleScopes, Parameters: c.LoginParameters(),
		Life: c.ConsoleLife, Idle: c.ConsoleIdle, PerUser: c.ConsoleSessions, Watch: c.FeedHeartbeat,
		Secrets: secrets, Pool: s.verified, Verifier: s.verifier, Now: time.Now, Log: s.log,
		Client: s.issuerClient(),
	})
	if err != nil {
		return nil, err
	}
	files, err := console.Load(console.Dist(), logins.Prefix())
	if err != nil {
		return nil, err
	}
	return &webConsole{logins, files}, nil
}

// originOf returns the origin of a URL, such as https://host, which its settings have checked.
func originOf(at string) string {
	u, err := url.Parse(at)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// mountConsole adds the console to the router: its files, its logins and, below /console/api,
// the operations of the API for the session of a browser.
func (d frontEnd) mountConsole(root chi.Router, operations func(chi.Router), fail web.FailFunc) {
	d.console.Fail = fail
	api := chi.NewRouter()
	api.Use(middleware.GetHead)
	web.Unrouted(api, fail)
	api.Group(operations)

	home := d.console.Prefix() + "/console/"
	toConsole := func(w http.ResponseWriter, r *http.Request) {
		if !web.WantsPage(r) {
			fail(w, r, web.NoResource(r))
			return
		}
		w.Header().Add("Vary", "Accept")
		http.Redirect(w, r, home, http.StatusSeeOther)
	}
	root.Group(func(group chi.Router) {
		group.Use(console.Harden(d.console.ObjectStore), d.console.SameOrigin, login.Bound)
		group.HandleFunc("/", toConsole)
		group.Get("/console", toConsole)
		group.Get("/console/*", d.console.files.Index)
		group.Get("/console/assets/*", func(w http.ResponseWriter, r *http.Request) {
			digest, name, _ := strings.Cut(chi.URLParam(r, "*"), "/")
			if !d.console.files.Asset(w, r, digest, name) {
				fail(w, r, web.NoResource(r))
			}
		})
		pages := group.With(web.Pages(d.console.ErrorPage))
		pages.Get("/console/login", d.console.Begin)
		pages.Get("/console/callback", d.console.Finish)
		group.Get("/console/session", d.console.Show)
		group.Post("/console/logout", d.console.End)
	})
	root.With(d.console.SameOrigin).Handle("/console/api/*", d.console.API(below(api)))
}

// below serves a request with a router of its own, and completes the route that is logged.
func below(router chi.Router) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		outer, inner := chi.RouteContext(r.Context()), chi.NewRouteContext()
		inner.Routes = router
		defer func() {
			if pattern := inner.RoutePattern(); pattern != "" {
				outer.RoutePatterns = []string{"/console" + pattern}
			}
		}()
		router.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), chi.RouteCtxKey, inner)))
	})
}
