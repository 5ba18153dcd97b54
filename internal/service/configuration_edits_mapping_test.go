package service_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"netsim/events"
)

// placeRanks uploads mapping files of some numbers of ranks.
func (l *lab) placeRanks(t *testing.T, ranks ...int) {
	t.Helper()
	j := journey{t: t, c: l.user, workspace: events.DefaultWorkspace}
	for i, n := range ranks {
		var lines strings.Builder
		for rank := range n {
			fmt.Fprintf(&lines, "%d, %d\n", rank, (rank+i)%n) // no two alike: a hash is that of one file
		}
		name := fmt.Sprintf("mapping-%d.txt", i)
		id := j.mapping(name, lines.String())
		l.mappings[id], l.placed[id] = name, float64(n)
	}
}

// chakra are the parameters of the chakra applications.
func (s *sheet) chakra() []object {
	var all []object
	for _, a := range s.list("applications") {
		if a := a.(object); a["trafficType"] == "chakra" {
			all = append(all, a["typedParameters"].(object)["ChakraConfiguration"].(object))
		}
	}
	return all
}

// tellMapping gives the chakra applications their mapping file.
func (s *sheet) tellMapping(file string) {
	for _, c := range s.chakra() {
		c["UseMapping"], c["MappingFileName"] = leaf("bool", file != ""), leaf("string", file)
	}
}

func (s *sheet) mapped() bool { return s.Doc["activeMappingFile"] != nil }

// ranks are those of the attached traceset.
func (s *sheet) ranks() float64 {
	attached, _ := s.Doc["activeTraceset"].(object)
	id, _ := attached["id"].(string)
	return s.lab.ranks[id]
}

// against is the status with which an attached mapping file refuses what the
// document has become, 0 for none.
func (s *sheet) against() int {
	attached, ok := s.Doc["activeMappingFile"].(object)
	if !ok {
		return 0
	}
	if s.lab.placed[attached["id"].(string)] != s.ranks() {
		return 409
	}
	for _, c := range s.chakra() {
		if c["UseMapping"].(object)["value"] != true || c["MappingFileName"].(object)["value"] != "chakra-mapping.txt" {
			return 422
		}
	}
	return 0
}

// attachMapping is row 35.
func (s *sheet) attachMapping(id string) answer {
	switch {
	case !s.hasChakra():
		return refused(422)
	case s.ranks() == 0:
		return refused(409)
	case s.lab.placed[id] == 0:
		return refused(404)
	case s.lab.placed[id] != s.ranks():
		return refused(422)
	}
	s.Doc["activeMappingFile"] = object{"id": id, "name": s.lab.mappings[id], "deleted": false}
	s.tellMapping("chakra-mapping.txt")
	return answer{200, wholeDocument}
}

// detachMapping is row 36.
func (s *sheet) detachMapping() answer {
	if !s.mapped() {
		return refused(404)
	}
	delete(s.Doc, "activeMappingFile")
	s.tellMapping("")
	return answer{200, wholeDocument}
}

func (p pencil) attachMapping() edit {
	id := p.of("mapping", append(slices.Sorted(maps.Keys(p.past[0].lab.placed)), "mapfile_00000000000000000000000000")...)
	return edit{"PATCH", "/mapping-file", object{"mappingFileId": id}, 35, false, func(s *sheet) answer { return s.attachMapping(id) }}
}

func (p pencil) detachMapping() edit {
	return edit{"DELETE", "/mapping-file", nil, 36, false, (*sheet).detachMapping}
}
