package infragraph

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// kind is the type of a value in JSON or YAML.
type kind uint8

const (
	null kind = iota
	boolean
	number
	text
	list
	object
)

func (k kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "a list", "an object"}[k]
}

// value is a value of a document in JSON or YAML.
type value struct {
	kind  kind
	text  string   // of a number or a string
	names []string // of the members of an object
	items []value  // of a list, or the members of an object
}

// parse reads the one value of a text. A text that begins with { is JSON.
func parse(content []byte) (value, error) {
	p := parser{}
	if !strings.HasPrefix(strings.TrimLeft(string(content[:min(len(content), 1<<10)]), " \t\r\n\ufeff"), "{") {
		return p.yaml(content)
	}
	if len(content) > MaxJSON {
		return value{}, fmt.Errorf("the document has %d bytes; at most %d are read", len(content), MaxJSON)
	}
	p.tokens = json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(content, []byte("\ufeff"))))
	p.tokens.UseNumber()
	v, err := p.json(0)
	if err == nil {
		if _, end := p.tokens.Token(); !errors.Is(end, io.EOF) {
			err = errors.New("there is more text behind the document")
		}
	}
	if err != nil {
		return value{}, fmt.Errorf("byte %d: %w", p.tokens.InputOffset(), err)
	}
	return v, nil
}

type parser struct {
	tokens *json.Decoder
	nodes  int
}

func (p *parser) count(depth int) error {
	if p.nodes++; p.nodes > maxNodes {
		return fmt.Errorf("the document has more than %d values", maxNodes)
	}
	if depth > maxDepth {
		return fmt.Errorf("the document is nested deeper than %d", maxDepth)
	}
	return nil
}

func (p *parser) json(depth int) (value, error) {
	token, err := p.tokens.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return value{}, err
	}
	return p.after(token, depth)
}

// after reads the value that begins with the token.
func (p *parser) after(token json.Token, depth int) (value, error) {
	if err := p.count(depth); err != nil {
		return value{}, err
	}
	switch token := token.(type) {
	case string:
		return value{kind: text, text: token}, nil
	case json.Number:
		return value{kind: number, text: token.String()}, nil
	case bool:
		return value{kind: boolean}, nil
	case json.Delim:
		v := value{kind: list}
		if token == '{' {
			v.kind = object
		}
		for p.tokens.More() {
			if v.kind == object {
				name, err := p.json(depth + 1)
				if err != nil {
					return v, err
				}
				v.names = append(v.names, name.text)
			}
			item, err := p.json(depth + 1)
			if err != nil {
				return v, err
			}
			v.items = append(v.items, item)
		}
		if _, err := p.tokens.Token(); err != nil { // the closing bracket
			return v, err
		}
		return v, v.distinct()
	}
	return value{}, nil
}

func (p *parser) yaml(content []byte) (value, error) {
	if len(content) > MaxYAML {
		return value{}, fmt.Errorf("the document has %d bytes; at most %d of YAML are read, and %d of JSON", len(content), MaxYAML, MaxJSON)
	}
	documents := yaml.NewDecoder(bytes.NewReader(content))
	var first, second yaml.Node
	if err := documents.Decode(&first); errors.Is(err, io.EOF) {
		return value{}, errors.New("the document is empty")
	} else if err != nil {
		return value{}, err
	}
	if err := documents.Decode(&second); !errors.Is(err, io.EOF) {
		return value{}, errors.New("there is a second document behind the first")
	}
	return p.converted(&first, 0)
}

func (p *parser) converted(n *yaml.Node, depth int) (value, error) {
	if n.Kind == yaml.DocumentNode && len(n.Content) == 1 {
		return p.converted(n.Content[0], depth)
	}
	if err := p.count(depth); err != nil {
		return value{}, fmt.Errorf("line %d: %w", n.Line, err)
	}
	v := value{text: n.Value}
	switch n.Kind {
	case yaml.ScalarNode:
		switch n.ShortTag() {
		case "!!null":
			return value{}, nil
		case "!!bool":
			v.kind = boolean
		case "!!int", "!!float":
			v.kind = number
		default:
			v.kind = text
		}
		return v, nil
	case yaml.SequenceNode, yaml.MappingNode:
		v.kind = list
		for i, item := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 0 {
				v.kind, v.names = object, append(v.names, item.Value)
				continue
			}
			converted, err := p.converted(item, depth+1)
			if err != nil {
				return v, err
			}
			v.items = append(v.items, converted)
		}
		if n.Kind == yaml.MappingNode {
			v.kind = object
		}
		if err := v.distinct(); err != nil {
			return v, fmt.Errorf("line %d: %w", n.Line, err)
		}
		return v, nil
	}
	return v, fmt.Errorf("line %d: aliases are not read", n.Line)
}

// distinct refuses an object with two members of one name.
func (v *value) distinct() error {
	seen := make(map[string]bool, len(v.names))
	for _, name := range v.names {
		if seen[name] {
			return fmt.Errorf("the member '%.64s' is there twice", name)
		}
		seen[name] = true
	}
	return nil
}
