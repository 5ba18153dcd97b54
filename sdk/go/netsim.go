// Package netsim is the Go SDK of netsim: simulations of collective workloads on modelled
// network fabrics, over its REST API.
//
//	client, err := netsim.New(netsim.Config{}) // NETSIM_URL, NETSIM_TOKEN
//	run, err := client.SubmitAndWait(ctx, submission)
//
// A [Client] has a method for each operation of the contract ([api.Operations]) and, for each
// list, one that iterates over its items. Package api has their types. Around them, the client
//
//   - gives each write a key of its own, so that it can be repeated without being done twice
//   - repeats what was lost or refused for now, as long as [Config] allows
//   - sends with each read the positions of the writes before it, so that the answer shows
//     them, whichever database it comes from
//   - makes an [Error] of each refusal
//
// A context bounds a call as a whole. All methods may be called at the same time.
package netsim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"

	"netsim/sdk/go/api"
)

// Config says how to reach a service. Its zero value takes the address and the token from the
// environment.
type Config struct {
	// URL is the address of the service, such as https://netsim.example; NETSIM_URL if empty.
	URL string
	// Token is the bearer token; NETSIM_TOKEN if it and Tokens are absent.
	Token string
	// Tokens gives a bearer token. It is asked before the first request, and again when the
	// service has refused the last one. No clock is compared with a token's expiry.
	Tokens func(context.Context) (string, error)
	// HTTP sends the requests; a client without a time limit if nil.
	HTTP *http.Client
	// Timeout is that of one attempt of a request, but not of a stream or a file: 30 s if 0.
	Timeout time.Duration
	// Retries is how often a request is repeated: 8 if 0, never if negative.
	Retries int
	// RetryFor is how long after its beginning a request is repeated: one minute if 0.
	RetryFor time.Duration
	// Silence is how long a stream may send nothing, not even a heartbeat, before it is opened
	// again: 45 s if 0, three heartbeats of the service.
	Silence time.Duration
}

// Client is a client of one service. Make it with [New].
type Client struct {
	*api.Operations
	transport *transport
	silence   time.Duration
}

// New returns a client. It makes no request.
func New(config Config) (*Client, error) {
	address := cmp.Or(config.URL, os.Getenv("NETSIM_URL"))
	base, err := url.Parse(address)
	switch {
	case address == "":
		return nil, errors.New("netsim: Config.URL and NETSIM_URL are empty")
	case err != nil:
		return nil, fmt.Errorf("netsim: the address of the service: %w", err)
	case base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		return nil, fmt.Errorf("netsim: the address of the service is %q; it must be like https://netsim.example", address)
	}
	source := config.Tokens
	if source == nil {
		token := cmp.Or(config.Token, os.Getenv("NETSIM_TOKEN"))
		source = func(context.Context) (string, error) { return token, nil }
	}
	t := &transport{
		http:     cmp.Or(config.HTTP, &http.Client{}),
		timeout:  cmp.Or(config.Timeout, 30*time.Second),
		retries:  cmp.Or(config.Retries, 8),
		retryFor: cmp.Or(config.RetryFor, time.Minute),
		tokens:   tokens{source: source, fixed: config.Tokens == nil},
	}
	client, err := api.NewClient(address, api.WithHTTPClient(t))
	if err != nil {
		return nil, fmt.Errorf("netsim: %w", err)
	}
	return &Client{
		Operations: &api.Operations{HTTP: client},
		transport:  t,
		silence:    cmp.Or(config.Silence, 45*time.Second),
	}, nil
}

// Raw has a call store its HTTP response, also that of a refusal, for its status and its
// headers, such as the [api.Tag] of what was read. The body of an answer in JSON can be read
// again.
func Raw(response **http.Response) api.RequestEditorFn {
	return func(ctx context.Context, r *http.Request) error {
		*r = *r.WithContext(context.WithValue(r.Context(), rawKey{}, response))
		return nil
	}
}

type rawKey struct{}
