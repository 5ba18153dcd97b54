package client

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"netsim/cmd/table"
	netsim "netsim/sdk/go"
)

type hooks struct {
	Listen listen `cmd:"" help:"Follow the events that you may see, and post each, signed, to a receiver that you develop."`
}

type listen struct {
	feed
	ForwardTo string `required:"" placeholder:"URL" help:"The receiver, such as http://localhost:3000/hook. It may be on this machine."`
	Secret    string `placeholder:"SECRET" env:"NETSIM_WEBHOOK_SECRET" help:"Sign with this secret, whsec_ and base64. When absent: one that is new, and printed."`
}

// Help implements kong.HelpProvider.
func (listen) Help() string {
	return "It needs no webhook at the service, and no address that the service reaches: the events come by the feed. Each is posted as a webhook posts it, once. An answer that is not 2xx is shown, and the next event is posted."
}

// Validate implements kong.Validatable.
func (c listen) Validate() error {
	if u, err := url.Parse(c.ForwardTo); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("--forward-to must be a URL such as http://localhost:3000/hook; it is %q", c.ForwardTo)
	}
	if _, err := keyOf(c.Secret); c.Secret != "" && err != nil {
		return err
	}
	return c.feed.Validate()
}

// keyOf returns the key of a secret of Standard Webhooks.
func keyOf(secret string) ([]byte, error) {
	encoded, prefixed := strings.CutPrefix(secret, "whsec_")
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || !prefixed || len(key) == 0 {
		return nil, errors.New("--secret must be whsec_ and base64")
	}
	return key, nil
}

// forwarded is what came of an event.
type forwarded struct {
	ID         string `json:"webhookId"`
	Type       string `json:"type"`
	Stream     string `json:"stream"`
	Status     int    `json:"status,omitempty"` // of the answer, absent without one
	Error      string `json:"error,omitempty"`
	DurationMs int64  `json:"durationMs"`
}

// receiveTimeout is how long a receiver may take, as for the service.
const receiveTimeout = 15 * time.Second

// Run forwards events until there were enough, or the user ends it.
func (c listen) Run(ctx context.Context, t *Terminal) error {
	secret := c.Secret
	if secret == "" {
		key := make([]byte, sha256.Size)
		if _, err := rand.Read(key); err != nil {
			return err
		}
		secret = "whsec_" + base64.StdEncoding.EncodeToString(key)
		fmt.Fprintln(t.Err, "the secret is", secret)
	}
	key, err := keyOf(secret)
	if err != nil {
		return err
	}
	client := &http.Client{
		Timeout:       receiveTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c.follow(ctx, t, func(ctx context.Context, s *session, event netsim.Event) error {
		f := forward(ctx, client, c.ForwardTo, key, t.Now(), event)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return s.printLine(t, answer{f, func(w io.Writer) error {
			came := f.Error
			if f.Status > 0 {
				came = strconv.Itoa(f.Status)
			}
			_, err := fmt.Fprintf(w, "%s %s %s %d ms\n", table.Printable(f.Type), table.Printable(f.Stream), table.Printable(came), f.DurationMs)
			return err
		}})
	})
}

// forward posts an event by Standard Webhooks 1.0.0.
func forward(ctx context.Context, client *http.Client, to string, key []byte, now time.Time, event netsim.Event) (f forwarded) {
	f = forwarded{ID: event.ID, Type: event.Type, Stream: event.Subject}
	began := time.Now()
	defer func() { f.DurationMs = time.Since(began).Milliseconds() }()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(event.Raw))
	if err != nil {
		f.Error = err.Error()
		return f
	}
	at := strconv.FormatInt(now.Unix(), 10)
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", event.ID, at, event.Raw)
	for name, value := range map[string]string{
		"Content-Type": "application/cloudevents+json", "User-Agent": "netsim-webhooks/1.0",
		"webhook-id": event.ID, "webhook-timestamp": at, "webhook-signature": "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)),
	} {
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	if err != nil {
		f.Error = err.Error()
		return f
	}
	defer response.Body.Close()
	f.Status = response.StatusCode
	if response.StatusCode/100 != 2 {
		f.Error = response.Status
	}
	return f
}
