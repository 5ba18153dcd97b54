package client_test

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

// TestLoginInABrowser: the page of the issuer brings the browser back with a code, and the
// tokens are in a file that only the user may read.
func TestLoginInABrowser(t *testing.T) {
	t.Parallel()
	p, issuer := servicetest.Shared(t), teststack.Issuer(t)
	m := newMachine(t)
	browsed := make(chan error, 1)
	m.Browse = func(page string) error {
		go func() { browsed <- allow(t, page) }()
		return nil
	}
	got := values(t, m.wants("login", "--url", p.URL, "--issuer", issuer.URL, "--json"))
	if err := testwait.Receive(t, browsed, "the browser to come back"); err != nil {
		t.Fatal(err)
	}
	if shown := got[0].(map[string]any); shown["user"] != "ada" || shown["name"] != "default" || shown["current"] != true {
		t.Errorf("the login shows %v", shown)
	}
	onlyMine(t, m.Home)
	m.wants("profile", "show")
	m.wants("logout")
	m.fails(4, "netsim login --profile default", "sim", "list")
}

// TestLoginOfADevice: the user enters the code elsewhere.
func TestLoginOfADevice(t *testing.T) {
	t.Parallel()
	p, issuer := servicetest.Shared(t), teststack.Issuer(t)
	m := newMachine(t)
	m.Err = writer(func(said []byte) {
		code := regexp.MustCompile(`enter the code (\S+),`).FindSubmatch(said)
		if code == nil {
			t.Fatalf("the command says %s", said)
		}
		answer, err := http.PostForm(issuer.URL+"/device", url.Values{"user_code": {string(code[1])}, "user": {"grace"}})
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
	})
	out := m.wants("login", "--profile", "work", "--url", p.URL, "--issuer", issuer.URL, "--device")
	if !strings.HasPrefix(out, "the profile work is for "+p.URL+", as grace of ") {
		t.Errorf("the login says %q", out)
	}
}

// TestATokenIsRefreshed: a token that the service does not accept any more is renewed, and the
// new refresh token is the one that is stored.
func TestATokenIsRefreshed(t *testing.T) {
	t.Parallel()
	p, issuer := servicetest.Shared(t), teststack.Issuer(t)
	m := newMachine(t)
	m.Browse = func(page string) error { go allow(t, page); return nil } //nolint:errcheck // the login would not end
	m.wants("login", "--url", p.URL, "--issuer", issuer.URL)
	file := filepath.Join(m.Home, "tokens", "default.json")
	before := read(t, file)
	refresh := regexp.MustCompile(`"refresh": "[^"]+"`).FindString(before)
	expired := issuer.Token(devissuer.Options{User: "ada", TTL: -time.Hour})
	write(t, file, `{"access": "`+expired+`", `+refresh+`}`)
	for range 2 { // the second one has the token of the first
		m.wants("sim", "list")
	}
	after := read(t, file)
	if strings.Contains(after, refresh) || strings.Contains(after, expired) {
		t.Errorf("the tokens were %s and are %s", before, after)
	}
	write(t, file, `{"access": "`+expired+`", `+refresh+`}`)
	m.fails(4, "netsim login --profile default", "sim", "list") // the refresh token was used
}

// TestOneRefreshAtATime: of commands whose token is refused at the same time one refreshes it,
// and the others take what it has stored. An issuer would end a login whose refresh token
// comes twice. The issuer of this test answers when all commands are refused.
func TestOneRefreshAtATime(t *testing.T) {
	t.Parallel()
	const commands = 5
	var refusals, refreshes atomic.Int32
	refused := make(chan struct{})
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	answer := func(w http.ResponseWriter, status int, body string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		io.WriteString(w, body) //nolint:errcheck // the test sees it
	}
	mux.HandleFunc("/api/v1/simulations", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer new" {
			answer(w, http.StatusOK, `{"simulations": [], "pagination": {}}`)
			return
		}
		if refusals.Add(1) == commands {
			close(refused)
		}
		answer(w, http.StatusUnauthorized, `{}`)
	})
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, fmt.Sprintf(`{"issuer": %q, "token_endpoint": %q}`, server.URL, server.URL+"/token"))
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		refreshes.Add(1)
		select {
		case <-refused:
		case <-r.Context().Done():
		}
		answer(w, http.StatusOK, `{"access_token": "new", "token_type": "Bearer"}`)
	})
	m := newMachine(t)
	write(t, filepath.Join(m.Home, "profiles.json"), fmt.Sprintf(`{"current": "one", "profiles": {"one": {"url": %q, "issuer": %q}}}`, server.URL, server.URL))
	tokens := filepath.Join(m.Home, "tokens", "one.json")
	write(t, tokens, `{"access": "old", "refresh": "stays"}`)
	var all sync.WaitGroup
	for range commands {
		all.Go(func() {
			if out, code, said := m.run("sim", "list"); code != 0 {
				t.Errorf("exit %d: %s%s", code, said, out)
			}
		})
	}
	testwait.Group(t, &all, "the commands")
	if n := refreshes.Load(); n != 1 || !strings.Contains(read(t, tokens), `"refresh": "stays"`) {
		t.Errorf("%d refreshes leave %s", n, read(t, tokens))
	}
}

// TestLoginWithAToken: a token is read from standard input, and stored if the service accepts
// it.
func TestLoginWithAToken(t *testing.T) {
	t.Parallel()
	p, issuer := servicetest.Shared(t), teststack.Issuer(t)
	m := newMachine(t)
	m.fails(2, "--url", "login", "--token")
	m.In = strings.NewReader("")
	m.fails(2, "no token", "login", "--token", "--url", p.URL)
	m.In = strings.NewReader("none\n")
	m.fails(4, "401", "login", "--token", "--url", p.URL)
	m.In = strings.NewReader(issuer.Token(devissuer.Options{Service: true, User: "robot", Roles: []string{"billing"}}) + "\n")
	m.wants("login", "--token", "--url", p.URL, "--profile", "robots")
	m.fails(2, "is none", "login", "--token", "--url", p.URL, "--profile", "../robots")
	m.fails(2, "can't be used together", "login", "--token", "--device", "--url", p.URL)
	if user := m.wants("profile", "show", "--jq", ".user"); user != "robot\n" {
		t.Errorf("the token is of %q", user)
	}
	m.wants("sim", "list")
}

// TestTheProfileOfACommand: a named profile is used before the environment, that before the
// current one; no stored token goes to the address of the environment.
func TestTheProfileOfACommand(t *testing.T) {
	t.Parallel()
	p, issuer := servicetest.Shared(t), teststack.Issuer(t)
	m := newMachine(t)
	m.fails(2, "set NETSIM_URL and NETSIM_TOKEN, or use netsim login", "sim", "list")
	for _, user := range []string{"one", "two"} {
		m.In = strings.NewReader(issuer.Token(devissuer.Options{User: user}) + "\n")
		m.wants("login", "--token", "--url", p.URL, "--profile", user)
	}
	used := func(args ...string) string {
		t.Helper()
		return strings.TrimSpace(m.wants(append([]string{"profile", "show", "--jq", `.name + " " + .user`}, args...)...))
	}
	var got []string
	got = append(got, used())
	m.wants("profile", "use", "one")
	got = append(got, used())
	m.env["NETSIM_PROFILE"] = "two"
	got = append(got, used())
	delete(m.env, "NETSIM_PROFILE")
	m.env["NETSIM_TOKEN"] = issuer.Token(devissuer.Options{User: "three"})
	got = append(got, used())
	seen := make(chan string, 1)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case seen <- r.Header.Get("Authorization"):
		default:
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(other.Close)
	delete(m.env, "NETSIM_TOKEN")
	m.env["NETSIM_URL"] = other.URL
	m.fails(3, "404", "sim", "list")
	if token := testwait.Receive(t, seen, "a request"); token != "" {
		t.Errorf("the service of NETSIM_URL gets the header %q", token)
	}
	got = append(got, used("two"))
	if want := "two two, one one, two two, one three, two two"; strings.Join(got, ", ") != want {
		t.Errorf("the profiles are %q, want %q", got, want)
	}
	m.fails(3, `no profile "four"`, "profile", "use", "four")
	if list := m.wants("profile", "list"); strings.Count(list, "\n") != 3 || !strings.Contains(list, "*        one") {
		t.Errorf("the list is\n%s", list)
	}
}

// writer is called with what is written.
type writer func([]byte)

func (w writer) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}

// allow is a browser whose user logs in as ada.
func allow(t *testing.T, page string) error {
	at, err := url.Parse(page)
	if err != nil {
		return err
	}
	form := at.Query()
	form.Set("user", "ada")
	at.RawQuery = ""
	answer, err := http.PostForm(at.String(), form)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("the browser comes back to %s: %s", answer.Request.URL, answer.Status)
	}
	return nil
}

// onlyMine checks that nobody else can read a file of a directory.
func onlyMine(t *testing.T, home string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		info, err := entry.Info()
		if err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil || files < 2 {
		t.Errorf("%d files, %v", files, err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
