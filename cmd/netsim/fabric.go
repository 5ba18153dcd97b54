package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"netsim/simulator/document"
	"netsim/simulator/infragraph"
	"netsim/simulator/validation"
)

type fabric struct {
	File string `arg:"" type:"existingfile" help:"The document: a configuration as the API returns it, or one of InfraGraph 2.x in JSON or YAML."`
	To   string `required:"" enum:"infragraph,configuration" help:"The form to write: infragraph or configuration."`
	Out  string `help:"The file to write, instead of standard output." placeholder:"FILE"`
}

// Run writes the other form, and lists on standard error what it does not have.
func (c fabric) Run() error {
	content, err := readAtMost(c.File, infragraph.MaxJSON)
	if err != nil {
		return err
	}
	made, notes, err := c.convert(content)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	if c.Out == "" {
		_, err = os.Stdout.Write(made)
	} else {
		err = os.WriteFile(c.Out, made, 0o644)
	}
	for _, note := range notes {
		_, wrote := fmt.Fprintf(os.Stderr, "note: %s\n", note)
		err = errors.Join(err, wrote)
	}
	return err
}

func (c fabric) convert(content []byte) ([]byte, []string, error) {
	if c.To == "infragraph" {
		d, err := document.Parse(string(content))
		if err == nil {
			err = validation.Complete(d)
		}
		if err != nil {
			return nil, nil, err
		}
		return infragraph.Write(d)
	}
	d, notes, err := infragraph.Read(content)
	if err != nil {
		return nil, nil, err
	}
	name := d.Topology.Name
	if name == "" {
		name = strings.TrimSuffix(filepath.Base(c.File), filepath.Ext(c.File))
	}
	made, err := json.MarshalIndent(struct {
		Name string `json:"name"`
		*document.Document
	}{name, d}, "", " ")
	return append(made, '\n'), notes, err
}

// readAtMost reads a file, and refuses one that is larger.
func readAtMost(name string, most int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	content, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(content)) > most {
		err = fmt.Errorf("%s has more than %d bytes", name, most)
	}
	return content, err
}
