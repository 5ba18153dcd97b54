package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/itchyny/gojq"
)

// output has the options of every command that prints.
type output struct {
	JSON bool   `help:"Print JSON, and nothing else on standard output."`
	JQ   string `name:"jq" placeholder:"PROGRAM" help:"Print what this program of jq makes of the JSON; a string as it is."`
}

// Validate implements kong.Validatable.
func (o output) Validate() error {
	if _, err := o.program(); err != nil {
		return fmt.Errorf("--jq: %w", err)
	}
	return nil
}

func (o output) program() (*gojq.Code, error) {
	if o.JQ == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	query, err := gojq.Parse(o.JQ)
	if err != nil {
		return nil, err
	}
	return gojq.Compile(query)
}

// answer is what a command has found.
type answer struct {
	value any                   // for --json
	text  func(io.Writer) error // for people
}

// line is an answer that is a sentence for people.
func line(value any, format string, args ...any) answer {
	return answer{value, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, format+"\n", args...)
		return err
	}}
}

// forProgram reports whether a program reads the output.
func (o output) forProgram() bool { return o.JSON || o.JQ != "" }

// print prints an answer.
func (o output) print(t *Terminal, a answer) error { return o.write(t.Out, a, "  ") }

// printLine prints an answer of many: as JSON on a line of its own.
func (o output) printLine(t *Terminal, a answer) error { return o.write(t.Out, a, "") }

func (o output) write(w io.Writer, a answer, indent string) error {
	code, err := o.program()
	switch {
	case err != nil:
		return err
	case code != nil:
		return filter(w, code, a.value)
	case !o.JSON:
		return a.text(w)
	}
	out := json.NewEncoder(w)
	out.SetIndent("", indent)
	out.SetEscapeHTML(false)
	return out.Encode(a.value)
}

// filter prints what a program of jq makes of a value, each result on a line.
func filter(w io.Writer, code *gojq.Code, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	var input any
	numbers := json.NewDecoder(bytes.NewReader(text))
	numbers.UseNumber() // no digit of a number is lost
	if err := numbers.Decode(&input); err != nil {
		return err
	}
	for results := code.Run(input); ; {
		result, ok := results.Next()
		if !ok {
			return nil
		}
		if err, failed := result.(error); failed {
			if halt, is := errors.AsType[*gojq.HaltError](err); is && halt.Value() == nil {
				return nil
			}
			return fmt.Errorf("--jq: %w", err)
		}
		line, is := result.(string)
		if !is {
			encoded, err := gojq.Marshal(result)
			if err != nil {
				return err
			}
			line = string(encoded)
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
}
