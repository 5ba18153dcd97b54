package chakra

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// jsonNode is a node of either JSON form. Names match in any case, so id also reads the
// older form's Id.
type jsonNode struct {
	ID   jsonCount `json:"id"`
	Name string    `json:"name"`

	Type          NodeType        `json:"type"`
	Control       jsonIDs         `json:"ctrlDeps"`
	ControlSnake  jsonIDs         `json:"ctrl_deps"`
	Data          jsonIDs         `json:"dataDeps"`
	DataSnake     jsonIDs         `json:"data_deps"`
	Start         jsonCount       `json:"startTimeMicros"`
	StartSnake    jsonCount       `json:"start_time_micros"`
	Duration      jsonCount       `json:"durationMicros"`
	DurationSnake jsonCount       `json:"duration_micros"`
	Attributes    []jsonAttribute `json:"attr"`

	// The older form only.
	NodeType    NodeType  `json:"NodeType"`
	Runtime     jsonCount `json:"runtime"`
	CPU         jsonValue `json:"is_cpu_op"`
	Operations  jsonValue `json:"num_ops"`
	TensorSize  jsonValue `json:"tensor_size"`
	Kind        jsonValue `json:"comm_type"`
	Size        jsonValue `json:"comm_size"`
	Source      jsonValue `json:"comm_src"`
	Destination jsonValue `json:"comm_dst"`
	Tag         jsonValue `json:"comm_tag"`
	Priority    jsonValue `json:"comm_priority"`
	Group       jsonValue `json:"pg_name"`
}

func (v *jsonNode) empty() bool {
	return v.ID == 0 && v.Name == "" && v.Type == 0 && v.NodeType == 0
}

// graphAttributes returns the attributes that are members of the node in the older form.
func (v *jsonNode) graphAttributes() []jsonAttribute {
	return []jsonAttribute{
		{name: "is_cpu_op", value: value(v.CPU)},
		{name: "num_ops", value: value(v.Operations)},
		{name: "tensor_size", value: value(v.TensorSize)},
		{name: "comm_type", value: value(v.Kind)},
		{name: "comm_size", value: value(v.Size)},
		{name: "comm_src", value: value(v.Source)},
		{name: "comm_dst", value: value(v.Destination)},
		{name: "comm_tag", value: value(v.Tag)},
		{name: "comm_priority", value: value(v.Priority)},
		{name: "pg_name", value: value(v.Group)},
	}
}

// jsonCount is a non-negative number, written as a number or as a string.
type jsonCount uint64

func (c *jsonCount) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	v, err := strconv.ParseUint(string(unquoted(b)), 10, 64)
	if err != nil {
		return refuse("expected a non-negative integer, got %.40s", b)
	}
	*c = jsonCount(v)
	return nil
}

// jsonIDs is a list of ids, written as numbers or as strings.
type jsonIDs []uint64

func (ids *jsonIDs) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	inner, ok := bytes.CutPrefix(b, []byte("["))
	if !ok {
		return refuse("expected a list of dependencies, got %.40s", b)
	}
	inner = bytes.TrimSpace(bytes.TrimSuffix(inner, []byte("]")))
	if len(inner) == 0 {
		return nil
	}
	for part := range bytes.SplitSeq(inner, []byte(",")) {
		id, err := strconv.ParseUint(string(unquoted(bytes.TrimSpace(part))), 10, 64)
		if err != nil {
			return refuse("expected the id of a dependency, got %.40s", part)
		}
		*ids = append(*ids, id)
	}
	return nil
}

// UnmarshalJSON reads a number or the schema's name.
func (t *NodeType) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	names := []string{
		"INVALID_NODE", "METADATA_NODE", "MEM_LOAD_NODE", "MEM_STORE_NODE", "COMP_NODE", "COMM_SEND_NODE",
		"COMM_RECV_NODE", "COMM_COLL_NODE", "STORAGE_NODE", "BATCH_NODE", "CHECKPOINT_NODE",
	}
	i, err := strconv.Atoi(string(b))
	if err != nil {
		i = slices.Index(names, string(unquoted(b)))
	}
	if i < 0 || i > int(lastNodeType) {
		return refuse("node type %.40s is not in the schema, which has 0 to %d", b, lastNodeType)
	}
	*t = NodeType(i)
	return nil
}

// jsonValue is an attribute's value whose kind follows from its JSON type.
type jsonValue value

func (v *jsonValue) UnmarshalJSON(b []byte) error {
	switch {
	case string(b) == "null":
		return nil
	case string(b) == "true":
		*v = jsonValue{kind: boolean, bits: 1}
	case string(b) == "false":
		*v = jsonValue{kind: boolean}
	case b[0] == '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*v = jsonValue{kind: text, text: []byte(s)}
	default:
		*v = jsonValue(number(b))
	}
	return nil
}

// jsonAttribute is an AttributeProto.
type jsonAttribute struct {
	name  string
	value value
	size  int // bytes
}

func (a *jsonAttribute) UnmarshalJSON(b []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(b, &members); err != nil {
		return refuse("expected an attribute, got %.40s", b)
	}
	a.size = len(b)
	if name, ok := members["name"]; ok {
		if err := json.Unmarshal(name, &a.name); err != nil {
			return refuse("expected an attribute's name, got %.40s", name)
		}
		delete(members, "name")
	}
	delete(members, "doc_string")
	delete(members, "docString")
	if len(members) > 1 {
		return refuse("attribute %.40s has more than one value", a.name)
	}
	for key, member := range members {
		switch key := strings.ToLower(strings.ReplaceAll(key, "_", "")); key {
		case "stringval", "boolval":
			var v jsonValue
			if err := v.UnmarshalJSON(member); err != nil {
				return err
			}
			a.value = value(v)
		default:
			if strings.HasSuffix(key, "val") && key != "bytesval" {
				a.value = number(unquoted(member))
			} else {
				a.value = value{kind: other}
			}
		}
	}
	return nil
}

// number reads a number. Other text has the kind other.
func number(b []byte) value {
	s := string(b)
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return value{kind: signed, bits: uint64(i)}
	}
	if u, err := strconv.ParseUint(s, 10, 64); err == nil {
		return value{kind: unsigned, bits: u}
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return value{kind: floating, bits: math.Float64bits(f)}
	}
	return value{kind: other}
}

// unquoted strips a JSON string's quotation marks. Numbers and the names of node types
// have no escapes.
func unquoted(b []byte) []byte {
	if len(b) >= 2 && b[0] == '"' && b[len(b)-1] == '"' {
		return b[1 : len(b)-1]
	}
	return b
}
