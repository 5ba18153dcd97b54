package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"netsim/api"
	"netsim/content/simple"
	"netsim/fault"
	"netsim/simulator/presets"
)

// Simple returns the normalised submission of a point of a study of simple submissions.
// base is the JSON text of an api.SimpleSubmission. An error is the client's: it names
// the point and its values.
func Simple(base string, p *Plan, point int) (presets.Simple, error) {
	tree, err := at(base, p, point, func(string) bool { return true })
	if err != nil {
		return presets.Simple{}, Refuse(p, point, err)
	}
	var body api.SimpleSubmission
	if err := strictly(tree, &body); err != nil {
		return presets.Simple{}, Refuse(p, point, err)
	}
	resolved, _, err := simple.Resolve(&body)
	if err != nil {
		return resolved, Refuse(p, point, err)
	}
	return resolved, nil
}

// at returns the base with the values that a point gives to some fields.
func at(base string, p *Plan, point int, has func(field string) bool) (map[string]any, error) {
	var tree map[string]any
	if err := json.Unmarshal([]byte(base), &tree); err != nil {
		return nil, fmt.Errorf("read the base: %w", err)
	}
	for i, text := range p.Values(point) {
		if !has(p.Axes[i].Field) {
			continue
		}
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			return nil, fmt.Errorf("read a value: %w", err)
		}
		if err := FieldOf(p.Axes[i]).Set(tree, value); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Axes[i].Field, err)
		}
	}
	return tree, nil
}

// strictly decodes a tree into a struct, and refuses members that it does not have.
func strictly(tree map[string]any, into any) error {
	text, err := json.Marshal(tree)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// Refuse returns the fault of a point that cannot run.
func Refuse(p *Plan, point int, err error) error {
	values := p.Values(point)
	for i := range values {
		values[i] = p.Axes[i].Field + "=" + values[i]
	}
	return fault.New(fault.Validation, "point %d (%s): %s", point, strings.Join(values, ", "), err.Error())
}
