package service_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"netsim/events"
)

// uploadMappings uploads a mapping file for each number of ranks.
func (l *editAccount) uploadMappings(t *testing.T, ranks ...int) {
	t.Helper()
	j := newJourney(t, l.user)
	j.Workspace = events.DefaultWorkspace
	for i, n := range ranks {
		var lines strings.Builder
		for rank := range n {
			fmt.Fprintf(&lines, "%d, %d\n", rank, (rank+i)%n) // each file has its own content and hash
		}
		name := fmt.Sprintf("mapping-%d.txt", i)
		id := j.Mapping(name, lines.String())
		l.mappings[id], l.mappingRanks[id] = name, float64(n)
	}
}

// chakra returns the ChakraConfiguration parameters of the Chakra applications.
func (s *versionModel) chakra() []object {
	var all []object
	for _, a := range s.list("applications") {
		if a := a.(object); a["trafficType"] == "chakra" {
			all = append(all, a["typedParameters"].(object)["ChakraConfiguration"].(object))
		}
	}
	return all
}

// setMapping sets the mapping file of the Chakra applications.
func (s *versionModel) setMapping(file string) {
	for _, c := range s.chakra() {
		c["UseMapping"], c["MappingFileName"] = leaf("bool", file != ""), leaf("string", file)
	}
}

func (s *versionModel) mapped() bool { return s.Doc["activeMappingFile"] != nil }

// ranks returns the number of ranks of the attached traceset, or 0.
func (s *versionModel) ranks() float64 {
	attached, _ := s.Doc["activeTraceset"].(object)
	id, _ := attached["id"].(string)
	return s.account.ranks[id]
}

// mappingConflict returns the status of the refusal if the document conflicts with the
// attached mapping file, or 0.
func (s *versionModel) mappingConflict() int {
	attached, ok := s.Doc["activeMappingFile"].(object)
	if !ok {
		return 0
	}
	if s.account.mappingRanks[attached["id"].(string)] != s.ranks() {
		return 409
	}
	for _, c := range s.chakra() {
		if c["UseMapping"].(object)["value"] != true || c["MappingFileName"].(object)["value"] != "chakra-mapping.txt" {
			return 422
		}
	}
	return 0
}

// attachMapping is row 35 of completions 3.5.
func (s *versionModel) attachMapping(id string) answer {
	switch {
	case !s.hasChakra():
		return refused(422)
	case s.ranks() == 0:
		return refused(409)
	case s.account.mappingRanks[id] == 0:
		return refused(404)
	case s.account.mappingRanks[id] != s.ranks():
		return refused(422)
	}
	s.Doc["activeMappingFile"] = object{"id": id, "name": s.account.mappings[id], "deleted": false}
	s.setMapping("chakra-mapping.txt")
	return answer{200, wholeDocument}
}

// detachMapping is row 36 of completions 3.5.
func (s *versionModel) detachMapping() answer {
	if !s.mapped() {
		return refused(404)
	}
	delete(s.Doc, "activeMappingFile")
	s.setMapping("")
	return answer{200, wholeDocument}
}

func (p generator) attachMapping() edit {
	id := p.of("mapping", append(slices.Sorted(maps.Keys(p.past[0].account.mappingRanks)), "mapfile_00000000000000000000000000")...)
	return edit{"PATCH", "/mapping-file", object{"mappingFileId": id}, 35, false, func(s *versionModel) answer { return s.attachMapping(id) }}
}

func (p generator) detachMapping() edit {
	return edit{"DELETE", "/mapping-file", nil, 36, false, (*versionModel).detachMapping}
}
