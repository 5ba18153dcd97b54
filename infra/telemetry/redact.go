package telemetry

import (
	"bytes"
	"io"
	"log/slog"
	"regexp"
	"strings"
)

const hidden = "[redacted]"

// secretShape recognises one form of credential. Every match contains the marker, so
// most lines cost a few substring searches and no regular expression.
type secretShape struct {
	marker      string
	pattern     *regexp.Regexp
	replacement string
}

func secretShapes() []secretShape {
	shape := func(marker, pattern, replacement string) secretShape {
		return secretShape{marker, regexp.MustCompile(pattern), replacement}
	}
	return []secretShape{
		// JWTs, including truncated ones
		shape("eyJ", `eyJ[\w-]{8,}(?:\.[\w-]*){0,4}`, hidden),
		// the Authorization header's value
		shape("earer", `([Bb]earer(?: |%20|\+)+)[\w.~+/=-]+`, "${1}"+hidden),
		// presigned links
		shape("X-Amz-", `(X-Amz-(?:Signature|Credential|Security-Token)=)[^&\s"\\]+`, "${1}"+hidden),
		// passwords in URLs and in PostgreSQL's key=value form
		shape("://", `(://[^\s/:@"]*:)[^\s/@"]+@`, "${1}"+hidden+"@"),
		shape("password=", `(password=)(?:'[^']*'|[^\s"'&]+)`, "${1}"+hidden),
		// PEM, up to the end of the quoted string
		shape("PRIVATE KEY", `-----BEGIN [A-Z ]*PRIVATE KEY-----[^"]*`, hidden),
	}
}

// Redact replaces text that looks like a credential, and the given secrets.
func Redact(text string, secrets ...string) string {
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, hidden)
		}
	}
	return string(redact([]byte(text), secretShapes()))
}

func redact(text []byte, shapes []secretShape) []byte {
	for _, s := range shapes {
		if bytes.Contains(text, []byte(s.marker)) {
			text = s.pattern.ReplaceAll(text, []byte(s.replacement))
		}
	}
	return text
}

// redactor redacts credentials in every line that is written to w. It works on the
// formatted line, so no attribute type can bypass it.
type redactor struct {
	w      io.Writer
	shapes []secretShape
}

func (r redactor) Write(line []byte) (int, error) {
	if _, err := r.w.Write(redact(line, r.shapes)); err != nil {
		return 0, err
	}
	return len(line), nil
}

// hideSecrets redacts the values of attributes whose names are those of credentials.
func hideSecrets(_ []string, a slog.Attr) slog.Attr {
	for _, name := range [...]string{"authorization", "cookie", "token", "password", "secret", "secretkey", "accesskey", "privatekey"} {
		if strings.EqualFold(a.Key, name) {
			return slog.String(a.Key, hidden)
		}
	}
	return a
}
