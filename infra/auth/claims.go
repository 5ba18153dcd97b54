package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"netsim/events"
)

// maxText bounds each name and id from a token, in bytes.
const maxText = 255

// claims are the claims of completions.md section 1.6, unchecked.
type claims struct {
	Subject     string        `json:"sub"`
	Name        string        `json:"name"`
	AccountID   string        `json:"account_id"`
	AccountName string        `json:"account_name"`
	Platform    string        `json:"platform"`
	Workspaces  workspaceList `json:"workspaces"`
	SandboxID   string        `json:"sandbox_id"`
	SandboxName string        `json:"sandbox_name"`
	times
}

// times are the claims that say when a token is valid, unchecked.
type times struct {
	Expiry    *numericDate `json:"exp"`
	NotBefore *numericDate `json:"nbf"`
	IssuedAt  *numericDate `json:"iat"`
}

// maxAhead is how far the issuer's clock may be ahead when it issues a token
// (completions.md section 11).
const maxAhead = time.Minute

// valid returns why the token is not valid now, "" when it is.
func (c *times) valid(now time.Time, skew time.Duration) string {
	switch {
	case c.Expiry == nil:
		return "has no time of expiry"
	case !now.Before(time.Time(*c.Expiry).Add(skew)):
		return "is expired"
	case c.NotBefore != nil && now.Add(skew).Before(time.Time(*c.NotBefore)):
		return "is not valid yet"
	case c.IssuedAt != nil && now.Add(maxAhead).Before(time.Time(*c.IssuedAt)):
		return "is issued in the future"
	}
	return ""
}

// caller checks the claims of a token for the platform, and turns them into a Caller.
func (c *claims) caller(issuer, platform string, service bool) (Caller, error) {
	if c.Subject == "" {
		return Caller{}, errors.New("claim sub is missing")
	}
	if c.Platform != "" && c.Platform != platform {
		return Caller{}, errors.New("claim platform names another platform")
	}
	for _, text := range []struct{ claim, value string }{
		{"sub", c.Subject}, {"name", c.Name}, {"account_name", c.AccountName},
		{"platform", c.Platform}, {"sandbox_id", c.SandboxID}, {"sandbox_name", c.SandboxName},
	} {
		if !plainText(text.value) {
			return Caller{}, fmt.Errorf("claim %s must be at most %d bytes of printable text", text.claim, maxText)
		}
	}
	switch {
	case c.AccountID == AllAccounts && !service:
		return Caller{}, errors.New("claim account_id may be * in a service token only")
	case c.AccountID != AllAccounts && !events.ValidID(events.AccountPrefix, c.AccountID):
		return Caller{}, errors.New("claim account_id is not an account id")
	}
	if c.Name == "" {
		c.Name = c.Subject
	}
	return Caller{
		UserID:        events.DerivedID(events.UserPrefix, c.AccountID, issuer, c.Subject),
		Subject:       c.Subject,
		UserName:      c.Name,
		Service:       service,
		AccountID:     c.AccountID,
		AccountName:   c.AccountName,
		Platform:      c.Platform,
		AllWorkspaces: c.Workspaces.all,
		Workspaces:    c.Workspaces.ids,
		SandboxID:     c.SandboxID,
		SandboxName:   c.SandboxName,
	}, nil
}

// workspaceList is a list of workspace ids, or "*" for all of them. An absent
// claim is an empty list.
type workspaceList struct {
	all bool
	ids []string
}

func (l *workspaceList) UnmarshalJSON(b []byte) error {
	if string(b) == `"*"` {
		l.all = true
		return nil
	}
	if err := json.Unmarshal(b, &l.ids); err != nil {
		return errors.New(`claim workspaces is neither a list nor "*"`)
	}
	for _, id := range l.ids {
		if !events.ValidID(events.WorkspacePrefix, id) {
			return errors.New("claim workspaces holds something that is not a workspace id")
		}
	}
	slices.Sort(l.ids)
	l.ids = slices.Compact(l.ids)
	return nil
}

// maxSeconds bounds a JWT time to the next 35,000 years or so.
const maxSeconds = 1 << 40

// numericDate is a JWT time: seconds since 1970. Fractions are dropped.
type numericDate time.Time

func (d *numericDate) UnmarshalJSON(b []byte) error {
	var seconds float64
	if err := json.Unmarshal(b, &seconds); err != nil || seconds < 0 || seconds > maxSeconds {
		return errors.New("a claim of a time is not a number of seconds")
	}
	*d = numericDate(time.Unix(int64(seconds), 0))
	return nil
}

// textsOf returns the strings of the named claim, which is a string or a list of strings.
// A claim of any other type is an error; an absent claim has none.
func textsOf(all map[string]json.RawMessage, claim string) ([]string, error) {
	raw := all[claim]
	if raw == nil {
		return nil, nil
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}, nil
	}
	var many []string
	if err := json.Unmarshal(raw, &many); err != nil {
		return nil, fmt.Errorf("claim %s is neither a string nor a list of strings", claim)
	}
	return many, nil
}

func plainText(s string) bool {
	if len(s) > maxText || !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if unicode.IsControl(r) {
			return false
		}
	}
	return true
}
