package contracts

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	mediaType = "application/vnd.schemaregistry.v1+json"
	forward   = "FORWARD_TRANSITIVE"
	timeout   = 10 * time.Second // of a call
	maxAnswer = 1 << 20          // bytes
)

// client calls the registry's API.
type client struct {
	base         *url.URL
	user, secret string
	http         *http.Client
}

func newClient(c Config) (client, error) {
	base, err := url.Parse(c.URL)
	if err != nil || (base.Scheme != "http" && base.Scheme != "https") || base.Host == "" || base.User != nil {
		return client{}, fmt.Errorf("the address of the schema registry must look like https://host:port/path, without a user")
	}
	return client{
		base: base, user: c.User, secret: c.Secret,
		http: &http.Client{
			Transport:     c.Transport,
			Timeout:       timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// register registers a schema, unless it is registered already, and returns its id.
// The error is *Refused if the registry does not accept the schema.
func (c client) register(ctx context.Context, s Schema) (int32, error) {
	if err := c.setCompatibility(ctx, s.Type); err != nil {
		return 0, err
	}
	var compact bytes.Buffer // the text identifies the schema; its layout must not
	if err := json.Compact(&compact, s.Document); err != nil {
		return 0, fmt.Errorf("the schema of %s: %w", s.Type, err)
	}
	var answer struct{ ID *int32 }
	status, text, err := c.call(ctx, http.MethodPost, map[string]string{"schemaType": "JSON", "schema": compact.String()}, &answer, "subjects", s.Type, "versions")
	switch {
	case err != nil:
		return 0, fmt.Errorf("register the schema of %s: %w", s.Type, err)
	case status == http.StatusConflict || status == http.StatusUnprocessableEntity:
		return 0, &Refused{s.Type, text}
	case status != http.StatusOK:
		return 0, fmt.Errorf("register the schema of %s: the schema registry answers %d: %s", s.Type, status, text)
	case answer.ID == nil || *answer.ID < 1:
		return 0, fmt.Errorf("register the schema of %s: the schema registry answers without an id: %s", s.Type, text)
	}
	return *answer.ID, nil
}

// setCompatibility sets the compatibility of a subject that has none of its own. An
// operator may choose another one.
func (c client) setCompatibility(ctx context.Context, subject string) error {
	status, text, err := c.call(ctx, http.MethodGet, nil, nil, "config", subject)
	if err == nil && status == http.StatusNotFound {
		status, text, err = c.call(ctx, http.MethodPut, map[string]string{"compatibility": forward}, nil, "config", subject)
	}
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the schema registry answers %d: %s", status, text)
	}
	if err != nil {
		return fmt.Errorf("set the compatibility of %s: %w", subject, err)
	}
	return nil
}

// call sends a request and decodes a 200 answer. It returns the status and the
// beginning of the answer's text.
func (c client) call(ctx context.Context, method string, body, answer any, path ...string) (int, string, error) {
	for i := range path {
		path[i] = url.PathEscape(path[i])
	}
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return 0, "", err
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base.JoinPath(path...).String(), content)
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Content-Type", mediaType)
	request.Header.Set("Accept", mediaType+", application/json")
	switch {
	case c.user != "":
		request.SetBasicAuth(c.user, c.secret)
	case c.secret != "":
		request.Header.Set("Authorization", "Bearer "+c.secret)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return 0, "", err
	}
	if response.StatusCode == http.StatusOK && answer != nil {
		if err := json.Unmarshal(text, answer); err != nil {
			return 0, "", fmt.Errorf("the schema registry answers with something else than JSON: %w", err)
		}
	}
	const shown = 300
	return response.StatusCode, strings.ToValidUTF8(string(text[:min(len(text), shown)]), ""), nil
}
