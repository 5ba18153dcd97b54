package contract

import (
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// The media types of bodies that are not JSON. Their form is in their description.
const (
	textTable   = "text/csv"
	binaryTable = "application/vnd.apache.parquet"
	jsonLines   = "application/x-ndjson"
	plainText   = "text/plain"
)

// problemType is the media type of problem details. No operation lists it: any error with a
// body is sent in it to a request that asks for it (openapi.yaml, "Errors").
const problemType = "application/problem+json"

type response struct {
	headers  []parameter
	contents map[string]*schema // by media type; empty: no body
}

func (c compiler) response(from *openapi3.Response) (*response, error) {
	to := &response{contents: map[string]*schema{}}
	for _, name := range slices.Sorted(maps.Keys(from.Headers)) {
		header := from.Headers[name].Value
		of, err := c.compile(header.Schema)
		if err != nil {
			return nil, fmt.Errorf("header %s: %w", name, err)
		}
		to.headers = append(to.headers, parameter{name: name, in: "header", required: header.Required, schema: of})
	}
	for mediaType, content := range from.Content {
		of, err := c.compile(content.Schema)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", mediaType, err)
		}
		to.contents[mediaType] = of
	}
	also, _ := from.Extensions["x-netsim-also"].([]any)
	for _, mediaType := range also {
		to.contents[fmt.Sprint(mediaType)] = nil // of no schema: see text
	}
	return to, nil
}

// Response returns an error if a response violates the contract: an unlisted status, or
// a missing or wrong header or body. An object with named members may have no others,
// even where the contract allows additional members. The response to a request without
// an operation must be 404 or 405.
func (c *Contract) Response(r *http.Request, status int, header http.Header, body []byte) error {
	op, ok := c.Find(r)
	if !ok {
		if status == http.StatusNotFound || status == http.StatusMethodNotAllowed {
			return nil
		}
		return fmt.Errorf("%s %s: the contract has no such operation", r.Method, r.URL.Path)
	}
	if err := c.negotiated(r, op.responses[status], status).check(header, body, r.Method == http.MethodHead); err != nil {
		return fmt.Errorf("%s (%s %s) answered %d: %w", op.ID, r.Method, r.URL.Path, status, err)
	}
	return nil
}

// negotiated returns what the contract has for a status, with the media type of problem
// details when it is an error and the request names that type.
func (c *Contract) negotiated(r *http.Request, of *response, status int) *response {
	asks := strings.Contains(strings.Join(r.Header.Values("Accept"), ","), problemType)
	if of == nil || status < http.StatusBadRequest || !asks || len(of.contents) == 0 {
		return of
	}
	contents := maps.Clone(of.contents)
	contents[problemType] = c.problem
	return &response{headers: of.headers, contents: contents}
}

// check returns an error if a response violates it. A nil one is of an unlisted status.
func (of *response) check(header http.Header, body []byte, head bool) error {
	if of == nil {
		return fmt.Errorf("the contract lists no such status; body %.200s", body)
	}
	for _, p := range of.headers {
		if err := p.check(header.Values(p.name)); err != nil {
			return fmt.Errorf("header %w", err)
		}
	}
	if len(of.contents) == 0 || head {
		if len(body) > 0 {
			return fmt.Errorf("a body where the contract has none: %.200s", body)
		}
		return nil
	}
	mediaType, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("content type %q: %w", header.Get("Content-Type"), err)
	}
	schema, known := of.contents[mediaType]
	if !known {
		return fmt.Errorf("content type %s, not one of %v", mediaType, slices.Sorted(maps.Keys(of.contents)))
	}
	switch mediaType {
	case textTable, binaryTable, jsonLines, plainText:
		return nil
	case eventStream:
		return schema.checkEvents(body)
	}
	value, err := decode(body)
	if err != nil {
		return err
	}
	if found := schema.check(value, true); found != nil {
		return errors.New(found.message("the body"))
	}
	return nil
}
