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

// Check checks a JSON text, as the body of a request of an operation, against the contract.
// Only the start of a study does: the values of its axes become such a body at its points.
// The nil Check checks nothing.
type Check func(operation string, body []byte) error

// Simple returns the normalised submission of a point of a study of simple submissions.
// base is the JSON text of an api.SimpleSubmission. An error is the client's: it names
// the point and its values.
func Simple(base string, p *Plan, point int, check Check) (presets.Simple, error) {
	tree, err := at(base, p, point, func(string) bool { return true })
	if err != nil {
		return presets.Simple{}, Refuse(p, point, err)
	}
	text, err := check.body("SubmitSimple", tree)
	if err != nil {
		return presets.Simple{}, Refuse(p, point, err)
	}
	var body api.SimpleSubmission
	if err := strictly(text, &body); err != nil {
		return presets.Simple{}, Refuse(p, point, err)
	}
	resolved, _, err := simple.Resolve(&body)
	if err != nil {
		return resolved, Refuse(p, point, err)
	}
	if k := point % p.replicates; k > 0 {
		resolved.Seed = presets.DefaultSeed + int64(k)
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

// body returns the JSON text of a value, checked as the body of a request of an operation.
func (check Check) body(operation string, value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err == nil && check != nil {
		err = check(operation, text)
	}
	return text, err
}

// strictly decodes a JSON text into a struct, and refuses members that it does not have.
func strictly(text []byte, into any) error {
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
	return fault.New(fault.Validation, "point %d (%s): %s", point/p.replicates, strings.Join(values, ", "), err.Error())
}
