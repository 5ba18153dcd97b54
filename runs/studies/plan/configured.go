package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"netsim/api"
	"netsim/fault"
	"netsim/simulator/document"
	"netsim/simulator/mapping"
	"netsim/simulator/units"
	"netsim/simulator/validation"
)

// The fields of a configuration that are not in its document.
const (
	Template    = "templateId"
	Traceset    = "tracesetId"    // null for none
	MappingFile = "mappingFileId" // null for none
	Duration    = "duration"
)

// Sources has what the base and the axes of a study of a configuration name. All of it is
// fixed: versions, templates, tracesets and mapping files do not change.
type Sources struct {
	Base        string                 // id of the configuration
	Duration    string                 // of the base
	Document    string                 // of the base's version
	Traceset    string                 // id, "" for none
	MappingFile string                 // id, "" for none
	Templates   map[string]string      // documents, by id
	Tracesets   map[string]TracesetRef // by id, also the base's
	Files       map[string]string      // hashes of mapping files, by id, also the base's
	Check       Check
}

// Documents returns how many different documents and attachments the points of a study of a
// configuration have at most: one for each combination of values of other axes than the
// duration, and each replicate.
func (p *Plan) Documents() int {
	different := map[string]bool{}
	for point := 0; point < p.Points(); point += p.replicates {
		key := ""
		for i, value := range p.Values(point) {
			if p.Axes[i].Field != Duration {
				key += value + "\n"
			}
		}
		different[key] = true
	}
	return len(different) * p.replicates
}

// Bases returns the documents whose fields the axes replace: the base's, or the templates.
func (s *Sources) Bases() []string {
	if len(s.Templates) > 0 {
		return slices.Collect(maps.Values(s.Templates))
	}
	return []string{s.Document}
}

// TracesetRef has the facts about a traceset that a study needs.
type TracesetRef struct {
	Ranks           int64
	Format, Library string // what it is, as execution.Traceset says
}

// Configured is what a point of a study of a configuration runs.
type Configured struct {
	Document    *document.Document
	Text        string // canonical, of Document
	Traceset    string // id, "" for none
	MappingFile string // id, "" for none
	Ranks       int64  // of the traceset, 0 for none
	Duration    time.Duration
	DurationAs  string // as the client sent it
}

// ConfigurationBase returns the base of a study of a configuration from its stored text.
func ConfigurationBase(text string) (base api.StudyConfiguration, err error) {
	if err := json.Unmarshal([]byte(text), &base); err != nil {
		return base, fmt.Errorf("read the base: %w", err)
	}
	return base, nil
}

// Named returns the ids that the axis of a field names, in the order of its values, with
// the index of the axis. They are nil if no axis has the field. An id is "" for null. An
// error is the client's.
func Named(p *Plan, field string) (axis int, ids []string, err error) {
	for i, a := range p.Axes {
		if a.Field != field {
			continue
		}
		for k, text := range a.Values {
			var id *string
			if err := json.Unmarshal([]byte(text), &id); err != nil || id == nil && field == Template || id != nil && *id == "" {
				return i, nil, fault.New(fault.Validation, "axes[%d].values[%d] must be the text of a %s, got %s", i, k, field, text)
			}
			if id == nil {
				id = new(string)
			}
			ids = append(ids, *id)
		}
		return i, ids, nil
	}
	return 0, nil, nil
}

// Configured returns what a point of a study of a configuration runs. An error is the
// client's: it names the point and its values. It does not check whether the network can
// be simulated; validation.Check does.
func (s *Sources) Configured(p *Plan, point int) (Configured, error) {
	c, err := s.configured(p, point)
	if err != nil {
		return c, Refuse(p, point, err)
	}
	return c, nil
}

func (s *Sources) configured(p *Plan, point int) (Configured, error) {
	c := Configured{Text: s.Document, Traceset: s.Traceset, MappingFile: s.MappingFile, DurationAs: s.Duration}
	inDocument := false
	for i, text := range p.Values(point) {
		value := &c.DurationAs
		switch p.Axes[i].Field {
		default:
			inDocument = true
			continue
		case Template:
			var id string
			if err := json.Unmarshal([]byte(text), &id); err != nil {
				return c, err
			}
			c.Text = s.Templates[id]
			continue
		case Traceset:
			value = &c.Traceset
		case MappingFile:
			value = &c.MappingFile
		case Duration:
			start := map[string]any{"configurationId": s.Base, "name": "point", "duration": json.RawMessage(text)}
			if _, err := s.Check.body("StartSimulation", start); err != nil {
				return c, err
			}
		}
		*value = ""
		if err := json.Unmarshal([]byte(text), value); err != nil {
			return c, fmt.Errorf("%s must be a text", p.Axes[i].Field)
		}
	}
	var err error
	if c.Duration, err = units.ParseDuration(c.DurationAs); err != nil {
		return c, fmt.Errorf("duration %w", err)
	}
	if inDocument {
		if c.Document, err = s.changed(c.Text, p, point); err != nil {
			return c, err
		}
	} else if c.Document, err = document.Parse(c.Text); err != nil {
		return c, err
	}
	if c.Traceset != "" && !c.Document.HasChakra() {
		return c, errors.New("the configuration has no chakra application to replay a traceset")
	}
	if c.MappingFile != "" && c.Traceset == "" {
		return c, errors.New("a mapping file needs a traceset")
	}
	c.Ranks = s.Tracesets[c.Traceset].Ranks
	c.Document.SetRankCount(c.Ranks)
	c.Document.SetMapping("")
	if c.MappingFile != "" {
		c.Document.SetMapping(mapping.Name)
	}
	if k := point % p.replicates; k > 0 {
		c.Document.AddToSeed(int64(k))
	}
	c.Text, err = document.Canonical(c.Document)
	return c, err
}

// changed returns a document with the values that a point gives to its fields. Parameters
// that a declaration lacks get their defaults, as in every document that a client sends.
func (s *Sources) changed(text string, p *Plan, point int) (*document.Document, error) {
	tree, err := at(text, p, point, ofDocument)
	if err != nil {
		return nil, err
	}
	body, err := s.Check.body("UpdateConfiguration", tree)
	if err != nil {
		return nil, err
	}
	if err := validation.CheckParamTrees(tree); err != nil {
		return nil, err
	}
	if err := validation.CheckParamTree("globalParameters", tree["globalParameters"]); err != nil {
		return nil, err
	}
	doc := new(document.Document)
	if err := strictly(body, doc); err != nil {
		return nil, err
	}
	return doc, validation.Complete(doc)
}

// ofDocument reports whether a field is one of the document.
func ofDocument(field string) bool {
	return !slices.Contains([]string{Template, Traceset, MappingFile, Duration}, field)
}

// OfNetwork reports whether the values of a field can change the network of a document.
func OfNetwork(field string) bool {
	if !ofDocument(field) {
		return field == Template
	}
	member, _, _ := strings.Cut(field, ".")
	member, _, _ = strings.Cut(member, "[")
	return member != document.Applications && member != "globalParameters"
}

// CheckFields returns the fault of an axis whose field is none of a configuration, or whose
// values the attachments would overwrite.
func CheckFields(p *Plan) error {
	members := []string{
		document.Applications, document.Components, document.Containers, document.Links, "topology", "globalParameters",
		Template, Traceset, MappingFile, Duration,
	}
	for i, a := range p.Axes {
		if first := FieldOf(a)[0].Member; !slices.Contains(members, first) {
			return fault.New(fault.Validation, "axes[%d].field must begin with one of [%s], got '%s'", i, strings.Join(members, ", "), first)
		}
		for _, step := range FieldOf(a) {
			if slices.Contains([]string{"NumOfChakraFiles", "UseMapping", "MappingFileName"}, step.Member) {
				return fault.New(fault.Validation, "axes[%d].field must be %s or %s, because %s follows from these", i, Traceset, MappingFile, step.Member)
			}
		}
	}
	return nil
}
