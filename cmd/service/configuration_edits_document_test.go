package service_test

import (
	"maps"
	"reflect"
	"slices"
)

// replace is row 4 of completions 3.5: each member in the request replaces the whole
// stored member.
func (s *versionModel) replace(members object) answer {
	before, had := s.Doc["activeTraceset"], s.hasChakra()
	for name, value := range members {
		switch value := copyOf(value).(type) {
		case nil: // a null name changes nothing
		case string:
			s.Name = value
		case object:
			if name == "activeTraceset" {
				s.attach(value["id"].(string))
				continue
			}
			s.Doc[name] = value
		default:
			s.Doc[name] = value
		}
	}
	seen := map[any]bool{}
	for _, member := range []string{"applications", "components", "containers", "links"} {
		for _, d := range s.list(member) {
			if seen[d.(object)["name"]] {
				return refused(400)
			}
			seen[d.(object)["name"]] = true
		}
	}
	entries := map[[2]any]bool{}
	for _, e := range s.shares() {
		e := e.(object)
		named := [2]any{e["parentApplication"], e["distributionPercent"].(object)["distributionId"]}
		if entries[named] {
			return refused(400)
		}
		entries[named] = true
	}
	s.setModels()
	s.setRanks()
	if !reflect.DeepEqual(before, s.Doc["activeTraceset"]) && !s.hasChakra() {
		return refused(400)
	}
	if s.losesChakra(had) {
		return refused(409)
	}
	if status := s.mappingConflict(); status != 0 {
		return refused(status)
	}
	return answer{200, wholeDocument}
}

// setModels sets the model and version of each reference to those of its target.
func (s *versionModel) setModels() {
	for _, h := range s.holders() {
		for _, ref := range h["components"].(array) {
			ref := ref.(object)
			if _, declared := s.find(ref["name"].(string)); declared != nil {
				ref["model"], ref["version"] = declared["model"], declared["version"]
			}
		}
	}
}

func (s *versionModel) attach(traceset string) {
	s.Doc["activeTraceset"] = object{"id": traceset, "name": s.account.tracesets[traceset]}
}

// attachTraceset is row 31.
func (s *versionModel) attachTraceset(id string) answer {
	if s.account.ranks[id] == 0 || !s.hasChakra() {
		return refused(400)
	}
	s.attach(id)
	s.setRanks()
	if status := s.mappingConflict(); status != 0 {
		return refused(status)
	}
	return answer{200, wholeDocument}
}

// detachTraceset is row 37.
func (s *versionModel) detachTraceset() answer {
	if s.Doc["activeTraceset"] == nil {
		return refused(404)
	}
	if s.mapped() {
		return refused(409)
	}
	delete(s.Doc, "activeTraceset")
	s.setRanks()
	return answer{200, wholeDocument}
}

// distribute is row 22.
func (s *versionModel) distribute(application, id string, value float64) answer {
	if s.topology()["appDistribution"] == nil {
		return refused(400)
	}
	found := false
	for _, e := range s.shares() {
		if e := e.(object); e["parentApplication"] == application && e["distributionPercent"].(object)["distributionId"] == id {
			e["distributionPercent"].(object)["value"] = value
			found = true
		}
	}
	if !found {
		return refused(404)
	}
	return answer{200, s.topology()["appDistribution"]}
}

// shares returns the entries of the distribution.
func (s *versionModel) shares() array {
	d, _ := s.topology()["appDistribution"].(object)
	entries, _ := d["randomApplicationDistribution"].(array)
	return entries
}

// percents returns the objects with the percentages of all shares of a kind.
func (s *versionModel) percents(kind string) []object {
	var all []object
	for _, e := range s.shares() {
		if e.(object)["applicationType"] == kind {
			all = append(all, e.(object)["distributionPercent"].(object))
		}
	}
	return all
}

func (s *versionModel) sum(kind string) float64 {
	sum := 0.0
	for _, p := range s.percents(kind) {
		sum += p["value"].(float64)
	}
	return sum
}

func (s *versionModel) rescale(kind string) {
	sum, all := s.sum(kind), s.percents(kind)
	for _, p := range all {
		if sum == 0 {
			p["value"] = 1 / float64(len(all))
		} else {
			p["value"] = p["value"].(float64) / sum
		}
	}
}

// addShare adds an application's entry of a kind, unless the distribution already has
// it.
func (s *versionModel) addShare(application, kind string, value float64) {
	id := application + "-" + kind
	if slices.ContainsFunc(s.shares(), func(e any) bool {
		return e.(object)["parentApplication"] == application && e.(object)["distributionPercent"].(object)["distributionId"] == id
	}) {
		return
	}
	d, ok := s.topology()["appDistribution"].(object)
	if !ok {
		d = object{}
		s.topology()["appDistribution"] = d
	}
	d["randomApplicationDistribution"] = append(s.shares(), object{
		"name": id, "parentApplication": application, "applicationType": kind,
		"distributionPercent": object{"distributionId": id, "value": value},
	})
}

// reached returns the names that the topology reaches.
func (s *versionModel) reached() map[string]bool {
	reached := map[string]bool{}
	var visit func(holder object)
	visit = func(holder object) {
		refs, _ := holder["components"].(array)
		for _, ref := range refs {
			if name := ref.(object)["name"].(string); !reached[name] {
				reached[name] = true
				_, declared := s.find(name)
				visit(declared)
			}
		}
	}
	visit(s.topology())
	return reached
}

// version returns the body of GET /versions/{version} without the time.
func (s *versionModel) version(number int) object {
	reached := s.reached()
	view := maps.Clone(s.Doc)
	view["components"] = slices.DeleteFunc(slices.Clone(s.list("components")), func(c any) bool { return !reached[c.(object)["name"].(string)] })
	view["version"] = float64(number)
	return view
}

// whole returns the body of GET without the members that edits do not change.
func (s *versionModel) whole(number int, status string) object {
	view := s.version(number)
	view["name"], view["status"], view["componentCount"] = s.Name, status, float64(len(s.list("components")))
	return view
}

// updated returns the body of PATCH: the body of GET, and a warning for each component
// that GET does not list.
func (s *versionModel) updated(number int, status string) object {
	view, reached, warnings := s.whole(number, status), s.reached(), array{}
	for _, c := range s.list("components") {
		if name := c.(object)["name"].(string); !reached[name] {
			warnings = append(warnings, "component "+name+" is declared and not reachable from the topology; include=all lists it")
		}
	}
	if len(warnings) > 0 {
		view["warnings"] = warnings
	}
	return view
}

// parts returns the bodies of the lists of components, containers, links and
// applications by path.
func (s *versionModel) parts() map[string]array {
	held := map[any]any{}
	for _, h := range append(slices.Concat(s.list("components"), s.list("containers")), s.topology()) {
		h := h.(object)
		for _, ref := range h["components"].(array) {
			if name := ref.(object)["name"]; held[name] == nil {
				held[name] = h["name"]
			}
		}
	}
	components := array{}
	for _, d := range s.list("components") {
		c := without(d.(object), "allowedComponents", "components")
		if held[c["name"]] != nil {
			c["container"] = held[c["name"]]
		}
		components = append(components, c)
	}
	return map[string]array{
		"applications?withDetails=true": s.list("applications"), "containers?limit=100": s.list("containers"),
		"links?withDetails=true": s.list("links"), "components?withDetails=true&limit=100": components,
		"components?withDetails=true&limit=100&include=all": components,
	}
}

func without(o object, members ...string) object {
	o = maps.Clone(o)
	for _, m := range members {
		delete(o, m)
	}
	return o
}

// dangling counts the references whose target does not exist.
func (s *versionModel) dangling() int {
	n := 0
	for _, h := range s.holders() {
		for _, ref := range h["components"].(array) {
			if _, declared := s.find(ref.(object)["name"].(string)); declared == nil {
				n++
			}
			if parent, ok := ref.(object)["parentApplicationName"].(string); ok {
				if member, _ := s.find(parent); member != "applications" {
					n++
				}
			}
		}
	}
	for _, e := range s.shares() {
		if member, _ := s.find(e.(object)["parentApplication"].(string)); member != "applications" {
			n++
		}
	}
	return n
}
