package auth_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"netsim/events"
	"netsim/fault"
	"netsim/infra/auth"
)

func TestAuthenticate(t *testing.T) {
	t.Parallel()
	c, iss := newClock(), newIssuer(t, "k1")
	v := newVerifier(t, iss, c)
	good := iss.token(t, "k1", userClaims(c))
	for name, test := range map[string]struct {
		headers   []string
		want      fault.Code
		challenge string
	}{
		"good":              {[]string{"Bearer " + good}, "", ""},
		"any case":          {[]string{"bearer  " + good}, "", ""},
		"none":              {nil, fault.Unauthorized, ""},
		"twice":             {[]string{"Bearer " + good, "Bearer " + good}, fault.Unauthorized, ""},
		"basic":             {[]string{"Basic dTpw"}, fault.Unauthorized, ""},
		"scheme only":       {[]string{"Bearer "}, fault.Unauthorized, ""},
		"bad token":         {[]string{"Bearer x.y.z"}, fault.Unauthorized, "invalid_token"},
		"two in one header": {[]string{"Bearer " + good + ", Bearer " + good}, fault.Unauthorized, "invalid_token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var failed error
			var caller auth.Caller
			h := v.Authenticate(func(_ http.ResponseWriter, _ *http.Request, err error) { failed = err })(
				http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { caller, _ = auth.CallerFrom(r.Context()) }))
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			r.Header["Authorization"] = test.headers
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)

			if test.want == "" {
				if failed != nil || caller.Subject != "user-1" {
					t.Errorf("caller %+v, error %v; want user-1", caller, failed)
				}
				return
			}
			if !fault.Is(failed, test.want) || caller.UserID != "" {
				t.Errorf("error %v, caller %+v; want %s and no caller", failed, caller, test.want)
			}
			if got := w.Header().Get("WWW-Authenticate"); !strings.Contains(got, test.challenge) {
				t.Errorf("challenge %q, want %q in it", got, test.challenge)
			}
		})
	}
}

func TestAuthorize(t *testing.T) {
	t.Parallel()
	user, service := &auth.Caller{UserID: "u"}, &auth.Caller{UserID: "m", Service: true}
	rules := map[string]auth.Access{"Read": auth.AnyCaller, "Bill": auth.ServiceOnly, "Odd": "nobody"}
	for name, test := range map[string]struct {
		caller    *auth.Caller
		operation string
		want      fault.Code // empty if the request passes
	}{
		"user reads":              {user, "Read", ""},
		"service reads":           {service, "Read", ""},
		"service bills":           {service, "Bill", ""},
		"user bills":              {user, "Bill", fault.Forbidden},
		"operation without rule":  {service, "New", fault.Internal},
		"operation without name":  {service, "", fault.Internal},
		"unknown rule":            {service, "Odd", fault.Internal},
		"no authenticated caller": {nil, "Read", fault.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var failed error
			passed := false
			h := auth.Authorize(rules, func(*http.Request) string { return test.operation },
				func(_ http.ResponseWriter, _ *http.Request, err error) { failed = err })(
				http.HandlerFunc(func(http.ResponseWriter, *http.Request) { passed = true }))
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			if test.caller != nil {
				r = r.WithContext(auth.WithCaller(r.Context(), *test.caller))
			}
			h.ServeHTTP(httptest.NewRecorder(), r)
			if passed != (test.want == "") || test.want != "" && !fault.Is(failed, test.want) {
				t.Errorf("passed %t, error %v; want code %q", passed, failed, test.want)
			}
		})
	}
}

func TestMemberOf(t *testing.T) {
	t.Parallel()
	some := auth.Caller{Workspaces: []string{workspaceA}}
	for name, test := range map[string]struct {
		caller    auth.Caller
		workspace string
		want      bool
	}{
		"in the list":       {some, workspaceA, true},
		"not in the list":   {some, workspaceB, false},
		"all":               {auth.Caller{AllWorkspaces: true}, workspaceB, true},
		"no workspaces":     {auth.Caller{}, workspaceA, false},
		"built-in default":  {auth.Caller{}, events.DefaultWorkspace, true},
		"built-in template": {auth.Caller{}, events.TemplateWorkspace, true},
		"built-in traceset": {auth.Caller{}, events.TracesetWorkspace, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := test.caller.MemberOf(test.workspace); got != test.want {
				t.Errorf("MemberOf(%s) = %t, want %t", test.workspace, got, test.want)
			}
		})
	}
}
