package service_test

import (
	"maps"
	"reflect"
	"slices"
)

// replace is row 4: each member sent replaces the stored one whole.
func (s *sheet) replace(members object) answer {
	before, had := s.Doc["activeTraceset"], s.hasChakra()
	for name, value := range members {
		switch value := copyOf(value).(type) {
		case nil: // the name stays
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
	s.tellModels()
	s.tellRanks()
	if !reflect.DeepEqual(before, s.Doc["activeTraceset"]) && !s.hasChakra() {
		return refused(400)
	}
	if s.losesChakra(had) {
		return refused(409)
	}
	if status := s.against(); status != 0 {
		return refused(status)
	}
	return answer{200, wholeDocument}
}

// tellModels gives the references the models of what they name.
func (s *sheet) tellModels() {
	for _, h := range s.holders() {
		for _, ref := range h["components"].(array) {
			ref := ref.(object)
			if _, declared := s.find(ref["name"].(string)); declared != nil {
				ref["model"], ref["version"] = declared["model"], declared["version"]
			}
		}
	}
}

func (s *sheet) attach(traceset string) {
	s.Doc["activeTraceset"] = object{"id": traceset, "name": s.lab.tracesets[traceset]}
}

// attachTraceset is row 31.
func (s *sheet) attachTraceset(id string) answer {
	if s.lab.ranks[id] == 0 || !s.hasChakra() {
		return refused(400)
	}
	s.attach(id)
	s.tellRanks()
	if status := s.against(); status != 0 {
		return refused(status)
	}
	return answer{200, wholeDocument}
}

// detachTraceset is row 37.
func (s *sheet) detachTraceset() answer {
	if s.Doc["activeTraceset"] == nil {
		return refused(404)
	}
	if s.mapped() {
		return refused(409)
	}
	delete(s.Doc, "activeTraceset")
	s.tellRanks()
	return answer{200, wholeDocument}
}

// distribute is row 22.
func (s *sheet) distribute(application, id string, value float64) answer {
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

// shares are the entries of the distribution.
func (s *sheet) shares() array {
	d, _ := s.topology()["appDistribution"].(object)
	entries, _ := d["randomApplicationDistribution"].(array)
	return entries
}

// percents are where the shares of one kind are written.
func (s *sheet) percents(kind string) []object {
	var all []object
	for _, e := range s.shares() {
		if e.(object)["applicationType"] == kind {
			all = append(all, e.(object)["distributionPercent"].(object))
		}
	}
	return all
}

func (s *sheet) sum(kind string) float64 {
	sum := 0.0
	for _, p := range s.percents(kind) {
		sum += p["value"].(float64)
	}
	return sum
}

func (s *sheet) rescale(kind string) {
	sum, all := s.sum(kind), s.percents(kind)
	for _, p := range all {
		if sum == 0 {
			p["value"] = 1 / float64(len(all))
		} else {
			p["value"] = p["value"].(float64) / sum
		}
	}
}

// addShare gives an application its entry of a kind, unless the distribution
// has it already.
func (s *sheet) addShare(application, kind string, value float64) {
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

// reached are the names that the topology reaches.
func (s *sheet) reached() map[string]bool {
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

// version is the body of GET /versions/{version}, but for the time.
func (s *sheet) version(number int) object {
	reached := s.reached()
	view := maps.Clone(s.Doc)
	view["components"] = slices.DeleteFunc(slices.Clone(s.list("components")), func(c any) bool { return !reached[c.(object)["name"].(string)] })
	view["version"] = float64(number)
	return view
}

// whole is the body of GET, but for what an edit does not change.
func (s *sheet) whole(number int, status string) object {
	view := s.version(number)
	view["name"], view["status"], view["componentCount"] = s.Name, status, float64(len(s.list("components")))
	return view
}

// updated is the body of PATCH: GET's, and what it does not list.
func (s *sheet) updated(number int, status string) object {
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

// parts are the bodies of the lists of parts with details, by their paths.
func (s *sheet) parts() map[string]array {
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

// dangling counts the references that name nothing.
func (s *sheet) dangling() int {
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
