package host

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"netsim/fault"
	"netsim/runs/execution"
	"netsim/simulator/engine"
)

// Handler serves the calls of the protocol.
func (h *Host) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /capabilities", h.capabilities)
	mux.HandleFunc("POST /runs", h.orderRun)
	mux.HandleFunc("GET /runs/{run}", h.known(h.status))
	mux.HandleFunc("GET /runs/{run}/logs", h.known(h.logs))
	mux.HandleFunc("GET /runs/{run}/results", h.known(h.results))
	mux.HandleFunc("GET /runs/{run}/results/{name...}", h.known(h.result))
	mux.HandleFunc("POST /runs/{run}/terminate", h.known(h.terminate))
	mux.HandleFunc("DELETE /runs/{run}", h.known(h.free))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusNotFound, "there is no such call") })
	return h.authorized(mux)
}

func (h *Host) authorized(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, is := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if subtle.ConstantTimeCompare([]byte(token), []byte(h.config.Token)) != 1 || !is {
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuse(w, http.StatusUnauthorized, "the token is not the engine's")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// known calls next with the run of the request, or refuses an unknown run.
func (h *Host) known(next func(http.ResponseWriter, *http.Request, *run)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		found := h.runs[r.PathValue("run")]
		h.mu.Unlock()
		if found == nil {
			refuse(w, http.StatusNotFound, "there is no such run")
			return
		}
		next(w, r, found)
	}
}

// can returns the capabilities of this engine.
func can() []string { return []string{"terminate"} }

func (h *Host) capabilities(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{"protocol": "1", "engine": execution.Name, "version": engine.Version, "capabilities": can()})
}

func (h *Host) orderRun(w http.ResponseWriter, r *http.Request) {
	var o execution.Order
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, h.config.OrderBytes)).Decode(&o); err != nil {
		if errors.As(err, new(*http.MaxBytesError)) {
			refuse(w, http.StatusUnprocessableEntity, "the order has more than "+strconv.FormatInt(h.config.OrderBytes, 10)+" bytes")
			return
		}
		refuse(w, http.StatusBadRequest, "the order cannot be read")
		return
	}
	if reason := h.cannot(&o); reason != "" {
		refuse(w, http.StatusUnprocessableEntity, reason)
		return
	}
	id, taken := h.take(o)
	if !taken {
		w.Header().Set("Retry-After", "5")
		refuse(w, http.StatusServiceUnavailable, "the engine is busy")
		return
	}
	answer(w, http.StatusCreated, map[string]any{"runId": id, "capabilities": can()})
}

// cannot returns the reason why an order can never run, "" if its fields show none.
func (h *Host) cannot(o *execution.Order) string {
	switch {
	case o.SimulationID == "" || len(o.SimulationID) > 128:
		return "simulationId must have 1 to 128 characters"
	case o.Name == "" || len(o.Name) > 255 || strings.ContainsAny(o.Name, "/\\\x00"):
		return "name must be a simulation's"
	case o.StartedAt.IsZero():
		return "startedAt is missing"
	case o.DurationNs <= 0:
		return "durationNs must be above 0"
	case execution.Hash(o.Document) != o.DocumentHash:
		return "documentHash is not that of document"
	}
	if _, err := o.Configuration(); err != nil {
		return "document: " + err.Error()
	}
	return fetchable(o, h.config.RunBytes)
}

// take starts the run of an order, or returns the existing run of its simulation.
// taken is false if the host is busy.
func (h *Host) take(o execution.Order) (id string, taken bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.ordered[o.SimulationID]; r != nil {
		return r.id, true
	}
	if !h.makeRoom() {
		return "", false
	}
	r := &run{id: strings.ToLower(rand.Text()), order: o, state: running}
	r.ctx, r.cancel = context.WithTimeoutCause(h.ctx, h.config.Within, errTooLong)
	h.runs[r.id], h.ordered[o.SimulationID] = r, r
	h.active.Add(1)
	go h.carryOut(r)
	return r.id, true
}

func (h *Host) status(w http.ResponseWriter, _ *http.Request, r *run) {
	r.mu.Lock()
	state, reason, end, started := r.state, r.reason, r.end, r.engine
	r.mu.Unlock()
	var p engine.Progress
	if started != nil {
		p = started.Progress()
	}
	s := map[string]any{
		"state": state, "simulatedTimeNs": p.Time / 1000, "eventsProcessed": p.Events,
		"deliveredBytes": p.Bytes, "finishedRanks": p.Ranks, "unfinishedRanks": p.RanksTotal - p.Ranks,
		"totalBytes": p.BytesTotal, "finishedCollectives": p.Collectives, "totalCollectives": p.CollectivesTotal,
	}
	if p.LastCollective != "" {
		s["lastCollective"] = p.LastCollective
	}
	if reason != "" {
		s["failureReason"] = reason
	}
	if end.State != "" {
		s["end"] = end
	}
	answer(w, http.StatusOK, s)
}

const maxPage = 1000 // log entries

func (h *Host) logs(w http.ResponseWriter, req *http.Request, r *run) {
	after := int64(0)
	if text := req.URL.Query().Get("after"); text != "" {
		var err error
		if after, err = strconv.ParseInt(text, 10, 64); err != nil || after < 0 {
			refuse(w, http.StatusBadRequest, "after must be the number of a log entry")
			return
		}
	}
	type line struct {
		Number    int64     `json:"number"`
		Timestamp time.Time `json:"timestamp"`
		Level     string    `json:"level"`
		Component string    `json:"component"`
		Message   string    `json:"message"`
	}
	lines := []line{}
	r.mu.Lock()
	first, _ := slices.BinarySearchFunc(r.logs, after, func(e entry, after int64) int { return int(e.number - after - 1) })
	for _, e := range r.logs[first:min(first+maxPage, len(r.logs))] {
		lines = append(lines, line{e.number, e.at.UTC(), e.Level.String(), e.Component, e.Message})
	}
	r.mu.Unlock()
	answer(w, http.StatusOK, map[string]any{"logs": lines})
}

// ended reports whether a run has ended. If it has not, ended refuses the request.
func (r *run) ended(w http.ResponseWriter) bool {
	r.mu.Lock()
	state := r.state
	r.mu.Unlock()
	if state == running {
		refuse(w, http.StatusConflict, "the run has not ended")
	}
	return state != running
}

func (h *Host) results(w http.ResponseWriter, _ *http.Request, r *run) {
	if !r.ended(w) {
		return
	}
	type file struct {
		Name     string `json:"name"`
		Size     int64  `json:"size"`
		Checksum string `json:"checksum"`
	}
	files := []file{}
	for _, f := range r.results {
		files = append(files, file{f.Name, f.Size, f.Hash})
	}
	answer(w, http.StatusOK, map[string]any{"files": files})
}

func (h *Host) result(w http.ResponseWriter, req *http.Request, r *run) {
	if !r.ended(w) {
		return
	}
	name := req.PathValue("name")
	if !slices.ContainsFunc(r.results, func(f execution.Result) bool { return f.Name == name }) {
		refuse(w, http.StatusNotFound, "there is no such result file")
		return
	}
	content, err := h.open(r, name)
	if err != nil {
		refuse(w, http.StatusNotFound, "the result file is gone")
		return
	}
	defer content.Close() //nolint:errcheck // it was only read
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, req, "", time.Time{}, content)
}

func (h *Host) terminate(w http.ResponseWriter, _ *http.Request, r *run) {
	r.mu.Lock()
	state := r.state
	r.mu.Unlock()
	if state != running {
		refuse(w, http.StatusConflict, "the run has ended: it is "+state)
		return
	}
	r.cancel()
	answer(w, http.StatusAccepted, map[string]any{"state": "terminating"})
}

func (h *Host) free(w http.ResponseWriter, _ *http.Request, r *run) {
	h.mu.Lock()
	if h.runs[r.id] == r {
		h.forget(r)
	}
	h.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body) //nolint:errcheck // it fails only if the client has gone
}

// refuse responds with an error in the format of the service's API.
func refuse(w http.ResponseWriter, status int, message string) {
	code := map[int]fault.Code{
		http.StatusBadRequest: fault.Validation, http.StatusUnauthorized: fault.Unauthorized, http.StatusNotFound: fault.NotFound,
		http.StatusConflict:            fault.Conflict,
		http.StatusUnprocessableEntity: fault.Unprocessable, http.StatusServiceUnavailable: fault.Unavailable,
	}[status]
	answer(w, status, map[string]any{"error": map[string]any{"code": code, "message": message}})
}
