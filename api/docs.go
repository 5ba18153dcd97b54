package api

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the documentation page and its files
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"
)

//go:embed docs/index.html
var docsPage []byte

//go:embed docs/docs.css
var docsStyle []byte

//go:embed docs/docs.js
var docsScript []byte

// docsPolicy allows the page to use only this origin.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
	"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Docs serves the contract as pages at /docs and below, and as files at
// /openapi.yaml and /openapi.json. It needs no network and no token.
func Docs() http.Handler {
	mux := http.NewServeMux()
	for pattern, f := range map[string]file{
		"GET /docs":          {"text/html; charset=utf-8", docsPage},
		"GET /docs/{$}":      {"text/html; charset=utf-8", docsPage},
		"GET /docs/docs.css": {"text/css; charset=utf-8", docsStyle},
		"GET /docs/docs.js":  {"text/javascript; charset=utf-8", docsScript},
		"GET /openapi.yaml":  {"application/yaml", document},
	} {
		mux.Handle(pattern, f)
	}
	asJSON := sync.OnceValues(documentJSON)
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, r *http.Request) {
		content, err := asJSON()
		if err != nil { // a test proves that this document converts
			http.Error(w, "the contract cannot be read", http.StatusInternalServerError)
			return
		}
		file{"application/json", content}.ServeHTTP(w, r)
	})
	return mux
}

// file is static content.
type file struct {
	contentType string
	content     []byte
}

func (f file) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Content-Security-Policy", docsPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache") // the browser revalidates its copy
	h.Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(f.content)))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.content))
}

// documentJSON returns the contract in JSON, with the members in the order of the
// YAML.
func documentJSON() ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(document, &root); err != nil {
		return nil, fmt.Errorf("read the contract: %w", err)
	}
	var b bytes.Buffer
	if err := writeJSON(&b, root.Content[0]); err != nil {
		return nil, fmt.Errorf("write the contract as json: %w", err)
	}
	return b.Bytes(), nil
}

func writeJSON(b *bytes.Buffer, node *yaml.Node) error {
	switch node.Kind {
	case yaml.MappingNode:
		return writeAll(b, '{', '}', node.Content)
	case yaml.SequenceNode:
		return writeAll(b, '[', ']', node.Content)
	case yaml.ScalarNode:
		return writeScalar(b, node)
	}
	return fmt.Errorf("line %d: not a mapping, sequence or scalar", node.Line)
}

func writeAll(b *bytes.Buffer, begin, end byte, nodes []*yaml.Node) error {
	b.WriteByte(begin)
	for i, node := range nodes {
		switch {
		case begin == '{' && i%2 == 1:
			b.WriteByte(':')
		case i > 0:
			b.WriteByte(',')
		}
		if begin == '{' && i%2 == 0 {
			node = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: node.Value} // the number 200 in "200:" becomes a JSON name
		}
		if err := writeJSON(b, node); err != nil {
			return err
		}
	}
	b.WriteByte(end)
	return nil
}

func writeScalar(b *bytes.Buffer, node *yaml.Node) error {
	var value any
	if err := node.Decode(&value); err != nil {
		return fmt.Errorf("line %d: %w", node.Line, err)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("line %d: %w", node.Line, err)
	}
	b.Write(text)
	return nil
}
