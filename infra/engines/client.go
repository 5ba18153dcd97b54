// Package engines calls engines that run elsewhere, behind HTTP
// (docs/engine-protocol.md, completions 5.4).
//
// An engine is not trusted. Its answers are bounded in size and time and checked
// against the protocol, and redirects are not followed. The token is sent only to
// the configured engines, whatever a platform link says.
//
// # Errors
//
//   - Unreachable: no answer came. The engine may still have served the request.
//   - Answered: the engine answered with a status outside 2xx.
//   - Garbled: the answer breaks the protocol.
//   - Refused: no engine will ever accept the order.
//   - the error of the caller's context, if that has ended.
package engines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Config says where engines are.
type Config struct {
	URLs    []string                                // base URLs
	Token   string                                  // a secret shared with the engines; "" sends none
	Timeout time.Duration                           // of each call
	Wrap    func(*http.Transport) http.RoundTripper // of the connections; nil changes nothing
}

// Client calls engines. It is safe for concurrent use.
type Client struct {
	urls    []string
	token   string
	timeout time.Duration
	http    *http.Client
}

// New makes a client. It does not call any engine.
func New(c Config) (*Client, error) {
	client := &Client{token: c.Token, timeout: c.Timeout}
	for _, text := range c.URLs {
		base, err := readURL(text)
		if err != nil {
			return nil, err
		}
		client.urls = append(client.urls, base)
	}
	transport := &http.Transport{
		DialContext:            (&net.Dialer{Timeout: min(client.timeout, 5*time.Second)}).DialContext,
		TLSHandshakeTimeout:    5 * time.Second,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
	client.http = &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     transport,
	}
	if c.Wrap != nil {
		client.http.Transport = c.Wrap(transport)
	}
	return client, nil
}

// readURL checks the base URL of an engine and drops a slash at its end.
func readURL(text string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil:
		return "", fmt.Errorf("read the address of an engine: %w", err)
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.User != nil, u.RawQuery != "", u.Fragment != "":
		return "", fmt.Errorf("the address of an engine must look like http://host:port/path, got %q", u.Redacted())
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// URLs returns the base URLs of the engines.
func (c *Client) URLs() []string { return slices.Clone(c.urls) }

// maxAnswer bounds answers other than files, in bytes.
const maxAnswer = 8 << 20

// call sends a request to an engine and decodes the body of a 2xx answer into
// answer, unless that is nil. It escapes the parts of the path.
func (c *Client) call(ctx context.Context, method, base string, path []string, query url.Values, body []byte, answer any) error {
	calling, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	response, err := c.send(calling, method, base, path, query, body)
	if err != nil {
		return callerError(ctx, err)
	}
	defer response.Body.Close() //nolint:errcheck // the body is only read
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return callerError(ctx, &Unreachable{err})
	case response.StatusCode/100 != 2:
		return answered(response.StatusCode, text)
	case answer == nil:
		return nil
	case len(text) > maxAnswer:
		return garbled("%s %s has an answer of more than %d bytes", method, path[0], maxAnswer)
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return garbled("%s %s: %w", method, path[0], err)
	}
	return nil
}

// send sends a request and returns the response. The caller reads and closes the
// body. The request ends with ctx.
func (c *Client) send(ctx context.Context, method, base string, path []string, query url.Values, body []byte) (*http.Response, error) {
	if !slices.Contains(c.urls, base) {
		return nil, &Unreachable{fmt.Errorf("engine %s is not configured", base)}
	}
	target := base
	for _, part := range path {
		target += "/" + url.PathEscape(part)
	}
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("call engine %s: %w", base, err)
	}
	request.Header.Set("Accept", "application/json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, &Unreachable{err}
	}
	return response, nil
}

// callerError returns the error of the caller's context if that caused err, and err
// otherwise.
func callerError(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return ctx.Err()
	}
	return err
}
