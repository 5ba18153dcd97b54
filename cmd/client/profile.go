package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"netsim/cmd/table"
	netsim "netsim/sdk/go"
)

// book is the file with the profiles.
type book struct {
	Current  string             `json:"current,omitempty"`
	Profiles map[string]profile `json:"profiles"`
}

// profile is a service that the user uses, and how to log in there.
type profile struct {
	Name     string   `json:"-"`
	URL      string   `json:"url"`
	Issuer   string   `json:"issuer,omitempty"` // none if a token was stored
	ClientID string   `json:"clientId,omitempty"`
	Scopes   []string `json:"scopes,omitempty"`

	token string // of the environment, in place of the stored one
	plain bool   // of the environment alone
}

const (
	firstProfile = "default"
	environment  = "environment" // what the profile of NETSIM_URL is called
)

var profileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func checkName(name string) error {
	if !profileName.MatchString(name) {
		return fmt.Errorf("%w: a profile's name has up to 64 letters, digits, dots, dashes and underscores; %q is none", errUsage, name)
	}
	return nil
}

// file returns the path of a file of the profiles, whose directory it creates.
func (t *Terminal) file(elements ...string) (string, error) {
	if t.Home == "" {
		return "", fmt.Errorf("%w: there is no directory for profiles: set HOME or XDG_CONFIG_HOME", errUsage)
	}
	path := filepath.Join(append([]string{t.Home}, elements...)...)
	return path, os.MkdirAll(filepath.Dir(path), 0o700)
}

// load reads a file of the profiles into a value, which stays as it is if there is none.
func (t *Terminal) load(ctx context.Context, into any, elements ...string) error {
	path, err := t.file(elements...)
	if err != nil {
		return err
	}
	text, err := netsim.FileStore(path).Load(ctx)
	if err != nil || text == "" {
		return err
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// save replaces a file of the profiles, which only its owner may read.
func (t *Terminal) save(ctx context.Context, value any, elements ...string) error {
	path, err := t.file(elements...)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return netsim.FileStore(path).Save(ctx, string(text)+"\n")
}

const bookFile = "profiles.json"

func (t *Terminal) book() (book, error) {
	b := book{Profiles: map[string]profile{}}
	err := t.load(context.Background(), &b, bookFile)
	return b, err
}

// named returns a profile of the book.
func (b book) named(name string) (profile, error) {
	p, ok := b.Profiles[name]
	if !ok {
		return p, fmt.Errorf("%w: there is no profile %q; netsim login --profile %s makes it", errNone, name, name)
	}
	p.Name = name
	return p, nil
}

// resolve returns the profile that a command uses: that of a name, of NETSIM_PROFILE, of
// NETSIM_URL and NETSIM_TOKEN alone, or the current one. A stored token is never sent to the
// address in the environment, and a token in the environment never to a profile that is named.
func (t *Terminal) resolve(name string) (profile, error) {
	name = cmp.Or(name, t.Getenv("NETSIM_PROFILE"))
	if url := t.Getenv("NETSIM_URL"); name == "" && url != "" {
		return profile{Name: environment, URL: url, token: t.Getenv("NETSIM_TOKEN"), plain: true}, nil
	}
	b, err := t.book()
	if err != nil {
		return profile{}, err
	}
	if name == "" && b.Current == "" {
		return profile{}, fmt.Errorf("%w: no service is named: set NETSIM_URL and NETSIM_TOKEN, or use netsim login", errUsage)
	}
	p, err := b.named(cmp.Or(name, b.Current))
	if name == "" {
		p.token = t.Getenv("NETSIM_TOKEN")
	}
	return p, err
}

type profiles struct {
	List profileList `cmd:"" help:"List the profiles."`
	Use  profileUse  `cmd:"" help:"Make a profile the current one."`
	Show profileShow `cmd:"" help:"Show the profile that commands use, and who its token is of."`
}

// shownProfile is a profile in an answer.
type shownProfile struct {
	Name     string `json:"name"`
	Current  bool   `json:"current"`
	URL      string `json:"url"`
	Issuer   string `json:"issuer,omitempty"`
	ClientID string `json:"clientId,omitempty"`
	*holder
}

type profileList struct{ output }

// Run lists the profiles.
func (c profileList) Run(t *Terminal) error {
	b, err := t.book()
	if err != nil {
		return err
	}
	list, rows := []shownProfile{}, [][]string{}
	for _, name := range slices.Sorted(maps.Keys(b.Profiles)) {
		p, current := b.Profiles[name], ""
		if name == b.Current {
			current = "*"
		}
		list = append(list, shownProfile{Name: name, Current: name == b.Current, URL: p.URL, Issuer: p.Issuer, ClientID: p.ClientID})
		rows = append(rows, []string{current, name, p.URL, p.Issuer})
	}
	return c.print(t, answer{list, func(w io.Writer) error {
		return table.Write(w, "there is no profile: netsim login makes one", "CURRENT PROFILE SERVICE ISSUER", rows)
	}})
}

type profileUse struct {
	output
	Name string `arg:"" predictor:"profile" help:"Its name."`
}

// Run makes the profile the current one.
func (c profileUse) Run(ctx context.Context, t *Terminal) error {
	b, err := t.book()
	if err != nil {
		return err
	}
	p, err := b.named(c.Name)
	if err != nil {
		return err
	}
	b.Current = c.Name
	if err := t.save(ctx, b, bookFile); err != nil {
		return err
	}
	return c.print(t, line(shownProfile{Name: c.Name, Current: true, URL: p.URL}, "the current profile is %s, of %s", c.Name, p.URL))
}

type profileShow struct {
	output
	Name string `arg:"" optional:"" predictor:"profile" help:"Its name; the one that commands use when absent."`
}

// Run shows the profile.
func (c profileShow) Run(ctx context.Context, t *Terminal) error {
	p, err := t.resolve(c.Name)
	if err != nil {
		return err
	}
	b, err := t.book()
	if err != nil {
		return err
	}
	held, err := p.held(ctx, t)
	if err != nil {
		return err
	}
	shown := shownProfile{Name: p.Name, Current: !p.plain && p.Name == b.Current, URL: p.URL, Issuer: p.Issuer, ClientID: p.ClientID, holder: holderOf(held.Access)}
	return c.print(t, answer{shown, func(w io.Writer) error {
		rows := [][]string{{"profile", p.Name}, {"service", p.URL}, {"issuer", p.Issuer}}
		return table.Write(w, "", "", append(rows, shown.rows()...))
	}})
}
