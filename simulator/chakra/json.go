package chakra

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// jsonForm reads both JSON forms: a stream of objects, first the metadata and then the
// nodes, and the older single object with its nodes in workload_graph.
type jsonForm struct {
	*Reader

	decoder *json.Decoder
	budget  *budget
	graph   bool // the older form
}

// budget is a reader that bounds how many bytes a decoder reads for one value.
type budget struct {
	r     io.Reader
	n     int64 // bytes read
	from  int64 // where the value starts
	limit int64
}

func (b *budget) Read(p []byte) (int, error) {
	if b.n-b.from > b.limit {
		return 0, refuse("the record has more than the %d bytes that are read", b.limit)
	}
	// The decoder scans its whole buffer again after each read, so reads are large.
	n, err := io.ReadFull(b.r, p)
	b.n += int64(n)
	if n > 0 && errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // the next read returns the error again
	}
	return n, err
}

func newJSONForm(r *Reader) *jsonForm {
	b := &budget{r: r.src, limit: int64(r.limits.Record)}
	return &jsonForm{Reader: r, decoder: json.NewDecoder(b), budget: b}
}

// metadata reads the first object or, in the older form, the members before the nodes.
func (f *jsonForm) metadata() error {
	if err := f.delimiter('{'); err != nil {
		return err
	}
	known, empty := false, true
	for f.decoder.More() {
		empty = false
		key, err := f.key()
		if err != nil {
			return err
		}
		switch key {
		case "version":
			known = true
			err = f.decode(&f.meta.Version)
		case "attr":
			known = true
			err = f.attributes()
		case "workload_graph":
			f.graph = true
			return f.delimiter('[')
		case "schema", "pid", "nodes":
			return hostTrace
		case "traceEvents", "schemaVersion", "deviceProperties":
			return profile
		case "id", "name", "type", "ctrlDeps", "ctrl_deps", "dataDeps", "data_deps":
			return nodesOnly
		default:
			err = f.skip()
		}
		if err != nil {
			return err
		}
	}
	if err := f.delimiter('}'); err != nil {
		return err
	}
	if !known && !empty {
		return notTrace
	}
	_, err := f.short([]byte(f.meta.Version))
	return err
}

// attributes reads the metadata's attributes, one at a time.
func (f *jsonForm) attributes() error {
	if err := f.delimiter('['); err != nil {
		return err
	}
	for f.decoder.More() {
		var a jsonAttribute
		if err := f.decode(&a); err != nil {
			return err
		}
		if err := f.bounded(a); err != nil {
			return err
		}
		if a.name == "schema" {
			var err error
			if f.meta.Schema, err = f.short(a.value.text); err != nil {
				return err
			}
		}
	}
	return f.delimiter(']')
}

func (f *jsonForm) bounded(a jsonAttribute) error {
	if a.size > f.limits.Attribute {
		return refuse("an attribute has %d bytes; at most %d are read", a.size, f.limits.Attribute)
	}
	return nil
}

// next reads a node.
func (f *jsonForm) next(n *Node) error {
	if f.graph && !f.decoder.More() {
		return f.finish()
	}
	f.at = f.decoder.InputOffset()
	var v jsonNode
	if err := f.decode(&v); err != nil {
		if f.graph {
			return unexpected(err)
		}
		return err
	}
	if v.empty() {
		return refuse("the record is empty")
	}
	n.ID, n.Name = uint64(v.ID), v.Name
	f.hasID = true
	n.Type = max(v.Type, v.NodeType)
	n.Start = uint64(max(v.Start, v.StartSnake))
	n.Duration = uint64(max(v.Duration, v.DurationSnake, v.Runtime))
	n.Control = append(append(n.Control, v.Control...), v.ControlSnake...)
	n.Data = append(append(n.Data, v.Data...), v.DataSnake...)
	for _, a := range v.Attributes {
		if err := f.bounded(a); err != nil {
			return err
		}
		if err := f.set(n, []byte(a.name), a.value); err != nil {
			return err
		}
	}
	for _, a := range v.graphAttributes() {
		if a.value.kind == noValue {
			continue
		}
		if err := f.set(n, []byte(a.name), a.value); err != nil {
			return err
		}
	}
	return nil
}

// finish reads the members after the nodes of the older form.
func (f *jsonForm) finish() error {
	if err := f.delimiter(']'); err != nil {
		return err
	}
	for f.decoder.More() {
		if _, err := f.key(); err != nil {
			return err
		}
		if err := f.skip(); err != nil {
			return err
		}
	}
	if err := f.delimiter('}'); err != nil {
		return err
	}
	f.budget.from = f.decoder.InputOffset()
	if _, err := f.decoder.Token(); !errors.Is(err, io.EOF) {
		return refuse("there is data after the trace")
	}
	return io.EOF
}

func (f *jsonForm) key() (string, error) {
	f.budget.from = f.decoder.InputOffset()
	token, err := f.decoder.Token()
	if err != nil {
		return "", unexpected(f.reason(err))
	}
	key, ok := token.(string)
	if !ok {
		return "", refuse("expected a name, got %v", token)
	}
	return key, nil
}

func (f *jsonForm) delimiter(want json.Delim) error {
	f.budget.from = f.decoder.InputOffset()
	token, err := f.decoder.Token()
	if err != nil {
		return unexpected(f.reason(err))
	}
	if token != want {
		return refuse("expected %v, got %.40v", want, token)
	}
	return nil
}

// skip skips a value that has no meaning here.
func (f *jsonForm) skip() error {
	var value json.RawMessage
	return unexpected(f.decode(&value))
}

// decode reads the next value. io.EOF means that there is none.
func (f *jsonForm) decode(v any) error {
	f.budget.from = f.decoder.InputOffset()
	if err := f.decoder.Decode(v); err != nil {
		return f.reason(err)
	}
	return nil
}

// reason turns a decoder's error about the file's text into a refusal.
func (f *jsonForm) reason(err error) error {
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return refuse("this is not JSON: %v", syntax)
	case errors.As(err, &typed):
		return refuse("%s cannot have the JSON type %s", fieldName(typed), typed.Value)
	default:
		return err
	}
}

func fieldName(err *json.UnmarshalTypeError) string {
	if err.Field == "" {
		return "a record"
	}
	return fmt.Sprintf("member %s", err.Field)
}
