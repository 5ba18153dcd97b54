package auth_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
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

// TestAuthorize is the table of who may use which operation.
func TestAuthorize(t *testing.T) {
	t.Parallel()
	callers := map[string]*auth.Caller{
		"user":              {UserID: "u"},
		"user, billing":     {UserID: "u", Billing: true},
		"user, operator":    {UserID: "u", Operator: true},
		"user, both":        {UserID: "u", Billing: true, Operator: true},
		"service":           {UserID: "m", AccountID: account, Service: true},
		"service, billing":  {UserID: "m", AccountID: account, Service: true, Billing: true},
		"service, operator": {UserID: "m", AccountID: account, Service: true, Operator: true},
		"platform service":  {UserID: "m", AccountID: auth.AllAccounts, Service: true},
	}
	everybody := slices.Sorted(maps.Keys(callers))
	rules := map[string]auth.Access{
		"Read":    {Token: auth.AnyToken},
		"Make":    {Token: auth.ServiceToken},
		"Bill":    {Token: auth.ServiceToken, Role: auth.BillingRole},
		"Operate": {Token: auth.OperatorToken},
		"Odd":     {Token: "nobody"},
		"Mixed":   {Token: auth.ServiceToken, Role: auth.OperatorRole},
		"Any":     {Token: auth.AnyToken, Role: auth.BillingRole},
	}
	admitted := map[string][]string{
		"Read":    everybody,
		"Make":    {"platform service", "service", "service, billing", "service, operator"},
		"Bill":    {"platform service", "service", "service, billing", "service, operator", "user, billing", "user, both"},
		"Operate": {"service, operator", "user, both", "user, operator"},
	}
	for operation := range rules {
		for _, name := range everybody {
			want := fault.Code("")
			switch may, known := admitted[operation]; {
			case !known:
				want = fault.Internal // the rule is not one of those that exist
			case !slices.Contains(may, name):
				want = fault.Forbidden
			}
			if passed, err := authorize(t, rules, operation, callers[name]); passed != (want == "") || want != "" && !fault.Is(err, want) {
				t.Errorf("%s by %s: passed %t, error %v; want code %q", operation, name, passed, err, want)
			}
		}
	}
	for name, test := range map[string]struct {
		caller    *auth.Caller
		operation string
	}{
		"operation without rule":  {callers["service, operator"], "New"},
		"operation without name":  {callers["service, operator"], ""},
		"no authenticated caller": {nil, "Read"},
	} {
		if passed, err := authorize(t, rules, test.operation, test.caller); passed || !fault.Is(err, fault.Internal) {
			t.Errorf("%s: passed %t, error %v; want code %q", name, passed, err, fault.Internal)
		}
	}
}

// authorize sends a request for the operation through the middleware.
func authorize(t *testing.T, rules map[string]auth.Access, operation string, caller *auth.Caller) (passed bool, failed error) {
	t.Helper()
	h := auth.Authorize(rules, func(*http.Request) string { return operation },
		func(_ http.ResponseWriter, _ *http.Request, err error) { failed = err })(
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { passed = true }))
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	if caller != nil {
		r = r.WithContext(auth.WithCaller(r.Context(), *caller))
	}
	h.ServeHTTP(httptest.NewRecorder(), r)
	return passed, failed
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
