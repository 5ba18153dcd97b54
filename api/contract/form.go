package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"

	"netsim/fault"
)

// form is the body of an operation that takes multipart/form-data. Its files may be
// larger than memory, so it is checked while the handler reads it. A read of the body
// returns a fault at the first part that violates the contract, or at the end when a
// required part is missing.
type form struct {
	schema *schema
	files  map[string]bool // the fields that are files
}

// maxField bounds the bytes of a field that is not a file.
const maxField = 1 << 20

// form compiles the body. It returns nil when the operation takes no form.
func (c compiler) form(content openapi3.Content) (*form, error) {
	from := content["multipart/form-data"]
	if from == nil {
		return nil, nil
	}
	f := &form{files: map[string]bool{}}
	for name, ref := range from.Schema.Value.Properties {
		items := ref.Value.Items
		f.files[name] = items != nil && items.Value.ContentMediaType != ""
	}
	var err error
	f.schema, err = c.compile(from.Schema)
	return f, err
}

// filter replaces the request's body with one that checks the form while it is read. The
// caller calls end after the response.
func (f *form) filter(r *http.Request) (end func(), err error) {
	sent := r.Header.Get("Content-Type")
	mediaType, parameters, err := mime.ParseMediaType(sent)
	read, write := io.Pipe()
	to := multipart.NewWriter(write)
	if err != nil || mediaType != "multipart/form-data" || to.SetBoundary(parameters["boundary"]) != nil {
		return nil, fault.New(fault.UnsupportedMediaType, "content type '%s' is not supported; use multipart/form-data", clip(sent))
	}
	from := multipart.NewReader(r.Body, parameters["boundary"])
	b := &filteredBody{PipeReader: read, ended: make(chan struct{})}
	b.pass = func() {
		defer close(b.ended)
		err := f.pass(from, to)
		if err == nil {
			err = to.Close()
		}
		write.CloseWithError(err)
	}
	r.Body = b
	return b.end, nil
}

// filteredBody starts to read the form at the first Read. A client that sent
// "Expect: 100-continue" therefore gets its 100 only when the handler reads.
type filteredBody struct {
	*io.PipeReader

	begin sync.Once
	pass  func()
	ended chan struct{}
}

func (b *filteredBody) Read(p []byte) (int, error) {
	b.begin.Do(func() { go b.pass() })
	return b.PipeReader.Read(p)
}

// end stops the check and waits until it has stopped.
func (b *filteredBody) end() {
	b.PipeReader.Close() //nolint:errcheck // never fails
	b.begin.Do(func() { close(b.ended) })
	<-b.ended
}

// pass copies the parts of a form until the contract refuses one.
func (f *form) pass(from *multipart.Reader, to *multipart.Writer) error {
	fields := map[string]any{}
	for {
		part, err := from.NextPart()
		if err == io.EOF { //nolint:errorlint // NextPart documents io.EOF itself
			break
		}
		if err != nil {
			return unreadable(err)
		}
		if err := f.passPart(part, to, fields); err != nil {
			return err
		}
	}
	if found := f.schema.check(fields, false); found != nil {
		return &fault.Fault{Code: fault.Validation, Message: found.message("the form")}
	}
	return nil
}

func (f *form) passPart(part *multipart.Part, to *multipart.Writer, fields map[string]any) error {
	name := part.FormName()
	i := slices.IndexFunc(f.schema.members, func(m member) bool { return m.name == name })
	if i < 0 {
		return fault.New(fault.Validation, "%s is unknown", clip(name))
	}
	if f.files[name] {
		all, _ := fields[name].([]any)
		fields[name] = append(all, "")
		out, err := to.CreatePart(part.Header)
		if err != nil {
			return err
		}
		if _, err := io.Copy(out, part); err != nil {
			return unreadable(err)
		}
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(part, maxField+1))
	if err != nil {
		return unreadable(err)
	}
	if len(text) > maxField {
		return fault.New(fault.PayloadTooLarge, "%s is larger than %d bytes", name, maxField)
	}
	if err := take(fields, name, f.schema.members[i].schema, string(text)); err != nil {
		return err
	}
	if object, ok := fields[name].(map[string]any); ok {
		if text, err = json.Marshal(object); err != nil {
			return fmt.Errorf("encode %s: %w", name, err)
		}
	}
	out, err := to.CreatePart(part.Header)
	if err == nil {
		_, err = out.Write(text)
	}
	return err
}

// take decodes the text of a field by its schema, adds the value to fields, and checks
// it.
func take(fields map[string]any, name string, of *schema, text string) error {
	if !utf8.ValidString(text) || notText(text) {
		return fault.New(fault.Validation, "%s must be utf-8 text without NUL characters", name)
	}
	before, again := fields[name]
	var value any
	switch {
	case slices.Contains(of.types, "array"):
		list, _ := before.([]any)
		value = append(list, parameter{schema: of.items}.decode(text))
	case again:
		return fault.New(fault.Validation, "%s is given twice", name)
	case slices.Contains(of.types, "object"):
		decoded, err := decode([]byte(text))
		if refused, ok := errors.AsType[*fault.Fault](err); ok {
			return fault.New(refused.Code, "%s: %s", name, refused.Message)
		}
		value = decoded
	default:
		value = parameter{schema: of}.decode(text)
	}
	fields[name] = value
	if found := of.check(value, false); found != nil {
		return &fault.Fault{Code: fault.Validation, Message: found.at(name).message("the form")}
	}
	return nil
}

// unreadable returns the fault for a body that cannot be read completely: that of the
// reader, if it has one.
func unreadable(err error) error {
	if known, ok := errors.AsType[*fault.Fault](err); ok {
		return known
	}
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fault.New(fault.PayloadTooLarge, "the request body is larger than %d bytes", tooLarge.Limit)
	}
	return &fault.Fault{Code: fault.Validation, Message: "the request body could not be read", Cause: err}
}
