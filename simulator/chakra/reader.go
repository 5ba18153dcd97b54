package chakra

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"netsim/simulator/compressed"

	"google.golang.org/protobuf/encoding/protowire"
)

// The formats of rank files, as tracesets name them.
const (
	FormatBinary = "chakra_et_v1"
	FormatJSON   = "chakra_json_v1"
)

// Reader streams the trace of one rank. It needs no closing.
type Reader struct {
	src    *source
	form   form
	format string
	meta   Metadata
	limits Limits

	node   Node
	raw    raw
	group  string // the last pg_name
	offset int64  // where the next record starts
	at     int64  // where the current record starts
	count  int64  // number of the current record; 0 for the metadata
	hasID  bool   // the current record's id is known
	err    error  // that Next returns from now on
}

// form reads records of one file format.
type form interface {
	metadata() error
	next(n *Node) error // io.EOF after the last one
}

// Reasons to refuse a whole file.
const (
	emptyFile       fileRefusal = "the file is empty"
	notTrace        fileRefusal = "this is not a Chakra trace: neither its binary form nor its JSON forms"
	oldNodes        fileRefusal = "this is an older Chakra layout (proto2), which starts with a node instead of the metadata; convert it to the current schema"
	oldMetadata     fileRefusal = "this is an older Chakra layout, whose metadata has no version; convert it to the current schema"
	hostTrace       fileRefusal = "this is a PyTorch host execution trace, not a Chakra trace; link it with the profiler's trace and convert it with Chakra's tools"
	profile         fileRefusal = "this is a profiler's trace (Kineto), not a Chakra trace; link it with the host execution trace and convert it with Chakra's tools"
	nodesOnly       fileRefusal = "this starts with a node; the first object has to be the metadata"
	tarArchive      fileRefusal = "this is a tar archive, not the trace of one rank"
	twiceCompressed fileRefusal = "this is compressed twice"
)

// NewReader reads the start of a file and its metadata. Zero limits mean their
// defaults. The error is an *Error if the file cannot be read as a trace; otherwise it
// wraps the error of r.
func NewReader(r io.Reader, limits Limits) (*Reader, error) {
	reader := &Reader{limits: limits.withDefaults()}
	var err error
	if reader.src, err = newSource(r, reader.limits); err != nil {
		return nil, reader.located(err)
	}
	head, err := reader.src.Peek(sniffSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, reader.located(err)
	}
	if err := reader.sniff(head); err != nil {
		return nil, reader.located(err)
	}
	if err := reader.form.metadata(); err != nil {
		return nil, reader.located(err)
	}
	return reader, nil
}

// sniff chooses the form by the first decompressed bytes.
func (r *Reader) sniff(head []byte) error {
	switch {
	case len(head) == 0:
		return emptyFile
	case compressed.Is(head):
		return twiceCompressed
	case len(head) > 262 && string(head[257:262]) == "ustar":
		return tarArchive
	case isJSON(head):
		r.form, r.format = newJSONForm(r), FormatJSON
	case isBinary(head):
		r.form, r.format = &binaryForm{Reader: r}, FormatBinary
	default:
		return notTrace
	}
	return nil
}

// isJSON reports whether an object starts here, empty or with a name. A binary record of
// 123 bytes starts with the same byte, but no quotation mark follows.
func isJSON(head []byte) bool {
	const space = " \t\r\n"
	inner, ok := bytes.CutPrefix(bytes.TrimLeft(head, space), []byte("{"))
	inner = bytes.TrimLeft(inner, space)
	return ok && len(inner) > 0 && (inner[0] == '"' || inner[0] == '}')
}

// isBinary reports whether the file starts with a length and the tag of a metadata
// field, or of a node's field as older files do.
func isBinary(head []byte) bool {
	length, n := protowire.ConsumeVarint(head)
	if n < 0 {
		return false
	}
	if length == 0 || n == len(head) {
		return true
	}
	switch head[n] {
	case 0x08, 0x0a, 0x12, 0x18:
		return true
	default:
		return false
	}
}

// Format returns FormatBinary or FormatJSON.
func (r *Reader) Format() string { return r.format }

// Metadata returns the metadata of the file.
func (r *Reader) Metadata() Metadata { return r.meta }

// Next reads the next node, which is valid until the next call. After the last one it
// returns io.EOF. Other errors are like those of NewReader.
func (r *Reader) Next() (*Node, error) {
	if r.err != nil {
		return nil, r.err
	}
	r.count++
	r.hasID = false
	r.reset(&r.node)
	err := r.form.next(&r.node)
	if errors.Is(err, io.EOF) {
		r.err = io.EOF
		return nil, io.EOF
	}
	if err == nil {
		err = r.settle(&r.node)
		r.hasID = true
	}
	if err == nil && r.count > r.limits.Nodes {
		err = fileRefusal(fmt.Sprintf("the file has more than %d nodes", r.limits.Nodes))
	}
	if err != nil {
		r.err = r.located(err)
		return nil, r.err
	}
	r.node.Offset = r.at
	return &r.node, nil
}

// located turns a refusal into an *Error at the current record, and wraps other errors.
func (r *Reader) located(err error) error {
	if r.src != nil {
		err = r.src.failure(err)
	}
	var reason refusal
	var ofFile fileRefusal
	switch {
	case errors.As(err, &ofFile):
		return &Error{Record: -1, Reason: string(ofFile)}
	case errors.As(err, &reason):
		e := &Error{Offset: r.at, Record: r.count, HasID: r.hasID, Reason: string(reason)}
		if r.hasID {
			e.Node = r.node.ID
		}
		return e
	default:
		return fmt.Errorf("read trace: %w", err)
	}
}
