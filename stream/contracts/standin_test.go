package contracts_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"sync"
)

// standIn answers like a schema registry with Confluent's API, for the calls of this
// package. The tests also run against a real one (.ci/registry/run).
type standIn struct {
	mu       sync.Mutex
	next     int
	texts    map[string]int   // id by schema
	subjects map[string][]int // ids of the versions
	levels   map[string]string
	mux      *http.ServeMux
}

func newStandIn() *standIn {
	s := &standIn{texts: map[string]int{}, subjects: map[string][]int{}, levels: map[string]string{}, mux: http.NewServeMux()}
	s.mux.HandleFunc("GET /config/{subject}", s.getConfig)
	s.mux.HandleFunc("PUT /config/{subject}", s.putConfig)
	s.mux.HandleFunc("POST /subjects/{subject}/versions", s.register)
	s.mux.HandleFunc("GET /subjects/{subject}/versions", s.versions)
	s.mux.HandleFunc("GET /schemas/ids/{id}", s.schema)
	return s
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mux.ServeHTTP(w, r)
}

func (s *standIn) getConfig(w http.ResponseWriter, r *http.Request) {
	level := s.levels[r.PathValue("subject")]
	if level == "" {
		refuse(w, http.StatusNotFound, 40408, "no compatibility of its own")
		return
	}
	answer(w, map[string]any{"compatibilityLevel": level})
}

func (s *standIn) putConfig(w http.ResponseWriter, r *http.Request) {
	var body struct{ Compatibility string }
	if json.NewDecoder(r.Body).Decode(&body) != nil || body.Compatibility == "" {
		refuse(w, http.StatusUnprocessableEntity, 42203, "invalid compatibility level")
		return
	}
	s.levels[r.PathValue("subject")] = body.Compatibility
	answer(w, map[string]any{"compatibility": body.Compatibility})
}

func (s *standIn) register(w http.ResponseWriter, r *http.Request) {
	var body struct{ SchemaType, Schema string }
	if json.NewDecoder(r.Body).Decode(&body) != nil || body.SchemaType != "JSON" || !json.Valid([]byte(body.Schema)) {
		refuse(w, http.StatusUnprocessableEntity, 42201, "invalid schema")
		return
	}
	subject := r.PathValue("subject")
	id := s.texts[body.Schema]
	if !slices.Contains(s.subjects[subject], id) {
		for _, earlier := range s.subjects[subject] {
			if s.levels[subject] == "FORWARD_TRANSITIVE" && !s.reads(earlier, body.Schema) {
				refuse(w, http.StatusConflict, 409, "incompatible with an earlier schema")
				return
			}
		}
		if id == 0 {
			s.next++
			id = s.next
			s.texts[body.Schema] = id
		}
		s.subjects[subject] = append(s.subjects[subject], id)
	}
	answer(w, map[string]any{"id": id})
}

// reads reports whether a reader with an earlier schema accepts data of a new one:
// all its properties are there, as they were.
func (s *standIn) reads(earlier int, schema string) bool {
	type object struct{ Properties map[string]any }
	var old, fresh object
	if json.Unmarshal([]byte(s.text(earlier)), &old) != nil || json.Unmarshal([]byte(schema), &fresh) != nil {
		return false
	}
	for name, property := range old.Properties {
		if !reflect.DeepEqual(fresh.Properties[name], property) {
			return false
		}
	}
	return true
}

func (s *standIn) text(id int) string {
	for text, of := range s.texts {
		if of == id {
			return text
		}
	}
	return ""
}

func (s *standIn) versions(w http.ResponseWriter, r *http.Request) {
	var numbers []int
	for i := range s.subjects[r.PathValue("subject")] {
		numbers = append(numbers, i+1)
	}
	answer(w, numbers)
}

func (s *standIn) schema(w http.ResponseWriter, r *http.Request) {
	var id int
	if _, err := fmt.Sscan(r.PathValue("id"), &id); err != nil || s.text(id) == "" {
		refuse(w, http.StatusNotFound, 40403, "no such schema")
		return
	}
	answer(w, map[string]any{"schema": s.text(id), "schemaType": "JSON"})
}

func refuse(w http.ResponseWriter, status, code int, message string) {
	w.WriteHeader(status)
	answer(w, map[string]any{"error_code": code, "message": message})
}

func answer(w http.ResponseWriter, body any) { _ = json.NewEncoder(w).Encode(body) }

// safeBuffer is a buffer for a log that is read while it is written.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
