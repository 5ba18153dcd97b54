package contract_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"netsim/api"
	"netsim/api/contract"
	"netsim/api/contract/contracttest"
	"netsim/fault"
)

// server implements the operations that the tests use, and records their requests.
type server struct {
	api.StrictServerInterface
	list    api.ListSimulationsParams
	preview api.SimpleSubmission
	create  api.ConfigurationCreate
	update  api.WorkspaceUpdate
}

func (s *server) ListSimulations(_ context.Context, r api.ListSimulationsRequestObject) (api.ListSimulationsResponseObject, error) {
	s.list = r.Params
	return rows(`{"simulations":[],"pagination":{"count":0,"hasMore":false}}`), nil
}

// rows is a page as rendered by the read model. Any type with the Visit method is a
// response of the strict server.
type rows string

func (p rows) VisitListSimulationsResponse(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "application/json")
	_, err := io.WriteString(w, string(p))
	return err
}

func (s *server) PreviewSimple(_ context.Context, r api.PreviewSimpleRequestObject) (api.PreviewSimpleResponseObject, error) {
	s.preview = *r.Body
	return nil, fault.New(fault.Validation, "exactly one of workload and groups is required")
}

func (s *server) CreateConfiguration(_ context.Context, r api.CreateConfigurationRequestObject) (api.CreateConfigurationResponseObject, error) {
	s.create = *r.Body
	return nil, errors.New("disk on fire")
}

func (s *server) UpdateWorkspace(_ context.Context, r api.UpdateWorkspaceRequestObject) (api.UpdateWorkspaceResponseObject, error) {
	s.update = *r.Body
	created := api.Timestamp{Time: time.Date(2026, 11, 21, 8, 30, 0, 0, time.UTC)}
	return api.UpdateWorkspace200JSONResponse{
		Headers: api.UpdateWorkspace200ResponseHeaders{ETag: `"2"`},
		Body:    api.Workspace{ID: r.WorkspaceID, Name: r.Body.Name, Owner: "user-17", CreatedAt: created, ModifiedAt: created},
	}, nil
}

// withToken sets the header of every write's reply, as the service does.
func withToken(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Consistency-Token", "AXMkXUoRk0yT")
		next.ServeHTTP(w, r)
	})
}

// start serves s behind the contract's middleware. The returned function sends one
// request, checks the response against the contract, and returns its status and body.
func start(t *testing.T, s *server) func(method, path, body string) (int, string) {
	t.Helper()
	c, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	router := chi.NewRouter()
	router.Use(c.Check(fail), withToken)
	api.HandlerWithOptions(
		api.NewStrictHandlerWithOptions(s, nil, api.StrictHTTPServerOptions{RequestErrorHandlerFunc: fail, ResponseErrorHandlerFunc: fail}),
		api.ChiServerOptions{BaseRouter: router, ErrorHandlerFunc: fail},
	)
	listening := httptest.NewServer(router)
	t.Cleanup(listening.Close)
	client := http.Client{Transport: contracttest.Transport(t, nil)}
	return func(method, path, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, listening.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(answer)
	}
}

// fail writes the error as the service does. Every fault gets the status 400.
func fail(w http.ResponseWriter, _ *http.Request, err error) {
	status, code, message := http.StatusInternalServerError, fault.Internal, "internal error"
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		status, code, message = http.StatusBadRequest, f.Code, f.Message
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": code, "message": message}})
}

func TestCheckedRequestsReachTheHandlerTyped(t *testing.T) {
	t.Parallel()
	var s server
	send := start(t, &s)

	status, body := send("GET", "/api/v1/simulations?limit=7&createdAfter=2026-11-21T10:30:00.5%2B02:00&status=running", "")
	if status != http.StatusOK {
		t.Errorf("list answered %d %s", status, body)
	}
	if s.list.Limit != 7 || s.list.Status != "running" || !s.list.CreatedAfter.Equal(time.Date(2026, 11, 21, 8, 30, 0, 5e8, time.UTC)) || !s.list.CreatedBefore.IsZero() {
		t.Errorf("list: %+v", s.list)
	}

	status, body = send("POST", "/api/v1/simple/simulations/preview",
		`{"workload":{"ranks":64,"phases":[{"operationType":"allReduce","dataSize":1099511627776}]}}`)
	want := api.SimpleSubmission{Workload: &api.SimpleWorkload{
		Ranks:  64,
		Phases: []api.SimplePhase{{OperationType: "allReduce", DataSize: 1 << 40}},
	}}
	if diff := cmp.Diff(want, s.preview); diff != "" {
		t.Errorf("preview (-want +got):\n%s", diff)
	}
	if status != http.StatusBadRequest || !strings.Contains(body, "exactly one of workload and groups is required") {
		t.Errorf("preview answered %d %s", status, body)
	}
}

// The numbers of a parameter tree reach the handler as the client wrote them.
func TestParametersAreNotRounded(t *testing.T) {
	t.Parallel()
	var s server
	send := start(t, &s)
	status, _ := send("POST", "/api/v1/configurations", `{"name":"one","components":[],"containers":[],"applications":[],"links":[],
		"topology":{"type":"clos","topologyTiers":1,"components":[{"name":"rack","type":"rack"}]},
		"globalParameters":{"b":{"value":9007199254740993,"type":"uint"},"a":{"value":0.10,"type":"double"}}}`)
	if status != http.StatusInternalServerError {
		t.Errorf("status %d", status)
	}
	if got, want := string(s.create.GlobalParameters), `{"a":{"type":"double","value":0.10},"b":{"type":"uint","value":9007199254740993}}`; got != want {
		t.Errorf("parameters %s, want %s", got, want)
	}
	if s.create.Topology.Components[0].Count != 0 || s.create.ActiveTraceset != nil {
		t.Errorf("absent members became %+v", s.create)
	}
}

func TestAbsentAndEmptyDescriptionsDiffer(t *testing.T) {
	t.Parallel()
	var s server
	send := start(t, &s)
	const path = "/api/v1/workspaces/workspace_01kahcfv4ge3brkm7f0v3x2m8p"
	send("PATCH", path, `{"name":"research","stats":{"simulationCount":1}}`)
	if s.update.Description != nil {
		t.Errorf("absent description became %q", *s.update.Description)
	}
	send("PATCH", path, `{"name":"research","description":""}`)
	if s.update.Description == nil || *s.update.Description != "" {
		t.Errorf("empty description became %v", s.update.Description)
	}
}
