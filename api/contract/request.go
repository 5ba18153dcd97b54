package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"netsim/fault"
)

// Check returns middleware that refuses requests outside the contract, through
// fail. It comes after authentication and authorization (the order of checks in
// completions.md section 1.3). Requests without an operation pass, and the router
// refuses them.
//
// The body is read and decoded only once, because the strict server binds the checked
// value.
func (c *Contract) Check(fail func(w http.ResponseWriter, r *http.Request, err error)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			op, ok := OperationOf(r)
			if !ok {
				op, ok = c.Find(r)
			}
			if ok {
				end, err := op.check(r)
				if err != nil {
					fail(w, r, err)
					return
				}
				defer end()
			}
			next.ServeHTTP(w, r)
		})
	}
}

// check returns the first violation in the order path, query, headers, body. It
// replaces the body of r with the decoded body, or with a body that is checked while
// it is read. The caller calls end after the response.
func (op *Operation) check(r *http.Request) (end func(), err error) {
	if err := op.checkPath(r.URL); err != nil {
		return nil, err
	}
	if err := op.checkQuery(r.URL.RawQuery); err != nil {
		return nil, err
	}
	for _, p := range op.parameters {
		if p.in != "header" {
			continue
		}
		lines := r.Header.Values(p.name)
		if len(lines) > 1 { // the lines of one header are one list (RFC 9110 section 5.3)
			lines = []string{strings.Join(lines, ", ")}
			r.Header.Set(p.name, lines[0])
		}
		if err := p.check(lines); err != nil {
			return nil, err
		}
	}
	switch end = func() {}; {
	case op.form != nil:
		return op.form.filter(r)
	case op.body != nil:
		return end, op.checkBody(r)
	}
	return end, nil
}

// checkPath refuses a malformed id.
func (op *Operation) checkPath(target *url.URL) error {
	templates := strings.Split(op.Path, "/")
	segments := strings.Split(target.EscapedPath(), "/")
	for i, template := range templates {
		if !strings.HasPrefix(template, "{") {
			continue
		}
		value, err := url.PathUnescape(segments[i])
		if err != nil {
			return fault.New(fault.Validation, "the path is malformed")
		}
		if err := op.parameter(strings.Trim(template, "{}")).check([]string{value}); err != nil {
			return err
		}
	}
	return nil
}

func (op *Operation) parameter(name string) parameter {
	i := slices.IndexFunc(op.parameters, func(p parameter) bool { return p.name == name })
	return op.parameters[i] // the document was validated: every template has its parameter
}

// checkQuery refuses a malformed query, and parameters that the operation does not have.
func (op *Operation) checkQuery(raw string) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return fault.New(fault.Validation, "the query string is malformed")
	}
	for _, p := range op.parameters {
		if p.in != "query" {
			continue
		}
		if slices.ContainsFunc(query[p.name], notText) {
			return fault.New(fault.Validation, "%s must be utf-8 text without NUL characters", p.name)
		}
		if err := p.check(query[p.name]); err != nil {
			return err
		}
		delete(query, p.name)
	}
	if len(query) > 0 {
		unknown := slices.Min(slices.Collect(maps.Keys(query)))
		return fault.New(fault.Validation, "query parameter '%s' is unknown", clip(unknown))
	}
	return nil
}

// notText reports whether PostgreSQL would refuse to store the value as text.
func notText(value string) bool {
	return !utf8.ValidString(value) || strings.Contains(value, "\x00")
}

// check checks the values of the parameter in a request. Only a list may be given
// several times; its items are texts.
func (p parameter) check(values []string) error {
	switch {
	case len(values) == 0 && p.required:
		return fault.New(fault.Validation, "%s is required", p.name)
	case len(values) == 0:
		return nil
	case slices.Contains(p.schema.types, "array"):
		list := make([]any, len(values))
		for i, v := range values {
			list[i] = v
		}
		if found := p.schema.check(list, false); found != nil {
			return &fault.Fault{Code: fault.Validation, Message: found.at(p.name).message("")}
		}
		return nil
	case len(values) > 1:
		return fault.New(fault.Validation, "%s is given %d times", p.name, len(values))
	}
	if found := p.schema.check(p.decode(values[0]), false); found != nil {
		return &fault.Fault{Code: fault.Validation, Message: found.message(p.name)}
	}
	return nil
}

// decode parses the text of a parameter by its schema. Text that does not parse stays
// a string, which the check refuses.
func (p parameter) decode(text string) any {
	switch {
	case slices.Contains(p.schema.types, "integer"):
		if _, err := strconv.ParseInt(text, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
			return json.Number(text)
		}
	case slices.Contains(p.schema.types, "boolean"):
		if text == "true" || text == "false" {
			return text == "true"
		}
	}
	return text
}

// checkedBody is a decoded request body. The generated server binds its value
// instead of decoding the bytes again (runtime.BindJSONBody).
type checkedBody struct {
	io.Reader
	value any
}

func (b checkedBody) ValidatedValue() any { return b.value }
func (b checkedBody) Close() error        { return nil }

func (op *Operation) checkBody(r *http.Request) error {
	body, err := bytesOf(r.Body)
	if err != nil {
		return unreadable(err)
	}
	if op.maxBody > 0 && len(body) > op.maxBody {
		return fault.New(fault.PayloadTooLarge, "the request body is larger than %d bytes", op.maxBody)
	}
	if len(bytes.TrimSpace(body)) == 0 {
		if op.bodyless {
			r.Body = http.NoBody
			return nil
		}
		return fault.New(fault.Validation, "the request body is required")
	}
	if sent := r.Header.Get("Content-Type"); !isJSON(sent) {
		return fault.New(fault.UnsupportedMediaType, "content type '%s' is not supported; use application/json", clip(sent))
	}
	value, err := decode(body)
	if err != nil {
		return err
	}
	if found := op.body.check(value, false); found != nil {
		return &fault.Fault{Code: fault.Validation, Message: found.message("the request body")}
	}
	r.Body = checkedBody{bytes.NewReader(body), value}
	return nil
}

// CheckBody checks a JSON text, as the body of a request of an operation. It is for values
// that become such a body only in the service.
func (c *Contract) CheckBody(operation string, body []byte) error {
	for _, op := range c.operations {
		if op.ID != operation {
			continue
		}
		value, err := decode(body)
		if err != nil {
			return err
		}
		if found := op.body.check(value, false); found != nil {
			return &fault.Fault{Code: fault.Validation, Message: found.message("the document")}
		}
		return nil
	}
	return fmt.Errorf("the contract has no operation %s", operation)
}

// bytesOf reads a body, or returns its bytes when it is in memory.
func bytesOf(body io.Reader) ([]byte, error) {
	if b, ok := body.(interface{ Bytes() []byte }); ok {
		return b.Bytes(), nil
	}
	return io.ReadAll(body)
}

func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	mediaType, parameters, err := mime.ParseMediaType(contentType)
	charset, given := parameters["charset"]
	return err == nil && mediaType == "application/json" && (!given || strings.EqualFold(charset, "utf-8"))
}
