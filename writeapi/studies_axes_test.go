package writeapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"netsim/api"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/auth"
	"netsim/internal/servicetest"
	"netsim/internal/testworld"
	"netsim/runs/studies/plan"
	"netsim/writeapi"
)

// wrong are values of every kind, one of which is wrong for any field.
func wrong() []any {
	return []any{nil, true, "x", "", -1, 0, 1.5, 1e30, []any{}, []any{1}, object{}, object{"colour": "red"}}
}

// TestAxisValuesAreRefusedAsInABase: a value of an axis is refused as it is in a submission,
// in the same words, whatever the field and the value.
func TestAxisValuesAreRefusedAsInABase(t *testing.T) {
	t.Parallel()
	user := servicetest.Shared(t).User(t, funded(t, servicetest.Shared(t)))
	for field, set := range map[string]func(body object, value any){
		"name":                                  func(b object, v any) { b["name"] = v },
		"topology":                              func(b object, v any) { b["topology"] = v },
		"colour":                                func(b object, v any) { b["colour"] = v },
		"workload":                              func(b object, v any) { b["workload"] = v },
		"groups":                                func(b object, v any) { b["groups"] = v },
		"workload.ranks":                        func(b object, v any) { pick(b, "workload").(object)["ranks"] = v },
		"workload.colour":                       func(b object, v any) { pick(b, "workload").(object)["colour"] = v },
		"workload.phases":                       func(b object, v any) { pick(b, "workload").(object)["phases"] = v },
		"workload.phases[0]":                    func(b object, v any) { pick(b, "workload.phases").([]any)[0] = v },
		"workload.phases[0].dataSize":           func(b object, v any) { pick(b, "workload.phases").([]any)[0].(object)["dataSize"] = v },
		"workload.phases[0].operationType":      func(b object, v any) { pick(b, "workload.phases").([]any)[0].(object)["operationType"] = v },
		"workload.phases[0].algorithm":          func(b object, v any) { pick(b, "workload.phases").([]any)[0].(object)["algorithm"] = v },
		"topologyConstraints":                   func(b object, v any) { b["topologyConstraints"] = v },
		"topologyConstraints.switchRadix":       func(b object, v any) { b["topologyConstraints"] = object{"switchRadix": v} },
		"topologyConstraints.subscriptionRatio": func(b object, v any) { b["topologyConstraints"] = object{"subscriptionRatio": v} },
	} {
		for _, value := range wrong() {
			var body object
			if err := json.Unmarshal([]byte(`{"workload": {"ranks": 8, "phases": [{"operationType": "allReduce", "dataSize": 1024}]}}`), &body); err != nil {
				t.Fatal(err)
			}
			study := object{"name": "s", "base": object{"simple": maps.Clone(body)}, "axes": []object{{"field": field, "values": []any{value}}}}
			text, err := json.Marshal(study)
			if err != nil {
				t.Fatal(err)
			}
			set(body, value)
			reply := user.Post("/api/v1/simple/simulations/preview", body)
			got := user.Post(studies+"/preview", json.RawMessage(text))
			if reply.Status == 200 {
				got.Want(200)
				continue
			}
			want, said := reply.Refused(400, "VALIDATION_ERROR"), got.Refused(400, "VALIDATION_ERROR")
			if !strings.HasPrefix(said, "point 0 ("+field+"=") || !strings.HasSuffix(said, "): "+want) {
				t.Errorf("%s = %v in an axis: %q\nin a submission: %q", field, value, said, want)
			}
		}
	}
}

// TestAxesOfADocumentAreRefusedInWordsOfTheContract: nothing that decodes a point's document
// shows how it does.
func TestAxesOfADocumentAreRefusedInWordsOfTheContract(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	own := newWorkspace(t, p.Service(t, account), "own")
	user := p.User(t, account, own)
	base := newValidConfiguration(t, user, own, workload(8, phase("allReduce", "", 1024)))
	for _, field := range []string{
		"name", "activeTraceset", "colour", "topology", "topology.topologyTiers", "topology.components[0].count", "components[0].name", "components[rsw].typedParameters",
		"components[rsw].typedParameters.NumUpLinks", "components[rsw].typedParameters.NumUpLinks.value", "containers[0]", "applications", "links",
		"globalParameters", "globalParameters.SimulationParameters", seed, "duration", "tracesetId", "mappingFileId", "templateId", "duration.x",
	} {
		for _, value := range wrong() {
			reply := user.Post(studies+"/preview", ofConfiguration(base, field, value))
			if reply.Status == 200 {
				continue
			}
			message := reply.Refused(400, "VALIDATION_ERROR")
			for _, words := range []string{"unmarshal", "Go ", "json:", "unknown field", "struct", "interface", "map["} {
				if strings.Contains(message, words) {
					t.Errorf("%s = %v is refused with %q", field, value, message)
				}
			}
		}
	}
	for field, want := range map[string]string{
		"name": "axes[0].field must begin with one of [applications, ", "duration": "point 0 (duration=true): duration must be a string, got true",
	} {
		if message := user.Post(studies, ofConfiguration(base, field, true)).Refused(400, "VALIDATION_ERROR"); !strings.HasPrefix(message, want) {
			t.Errorf("%s: got %q, want %q", field, message, want)
		}
	}
	for value, want := range map[string]string{
		"1e400": "axes[0].values[1] must be a number of at most 64 bits, got 1e400", `{"ranks":[1e400]}`: "axes[0].values[1] must have numbers of at most 64 bits",
	} {
		huge := json.RawMessage(`{"name":"s","base":{"simple":{}},"axes":[{"field":"workload","values":[8,` + value + `]}]}`)
		if message := user.Post(studies, huge).Refused(400, "VALIDATION_ERROR"); message != want {
			t.Errorf("%s is refused with %q, want %q", value, message, want)
		}
	}
}

// TestAnAxisInsideAnotherIsRefused: of two axes, neither changes what the other changes.
func TestAnAxisInsideAnotherIsRefused(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	own := newWorkspace(t, p.Service(t, account), "own")
	user := p.User(t, account, own)
	configuration := newValidConfiguration(t, user, own, workload(8, phase("allReduce", "", 1024)))
	of := object{"configuration": object{"configurationId": configuration, "duration": "1s"}}
	for _, c := range []struct {
		base         any
		outer, inner string
	}{
		{algorithms()["base"], "workload", "workload.ranks"},
		{algorithms()["base"], "workload", "workload.phases[0].dataSize"},
		{algorithms()["base"], "workload.phases", "workload.phases[0].dataSize"},
		{algorithms()["base"], "workload.phases", "workload.phases[0]"},
		{algorithms()["base"], "workload.phases[0]", "workload.phases[0].dataSize"},
		{algorithms()["base"], "workload.phases[0]", "workload.phases[00].dataSize"},
		{algorithms()["base"], "workload.phases[0].dataSize", "workload.phases[00].dataSize"},
		{algorithms()["base"], "topologyConstraints", "topologyConstraints.switchRadix"},
		{of, "components[0]", "components[rsw].typedParameters.NumUpLinks.value"},
		{of, "components[0].typedParameters.NumUpLinks.value", "components[rsw].typedParameters.NumUpLinks.value"},
		{of, "globalParameters", seed},
		{of, "duration", "duration.x"},
	} {
		for i, fields := range [][]string{{c.outer, c.inner}, {c.inner, c.outer}} {
			axes := []object{{"field": fields[0], "values": []any{1, 2}}, {"field": fields[1], "values": []any{3, 4}}}
			want := fmt.Sprintf("axes[%d].field must not be a part of that of axes[%d], %s; got %s", 1-i, i, c.outer, c.inner)
			if strings.ReplaceAll(c.inner, "[00]", "[0]") == c.outer || strings.ReplaceAll(c.inner, "[rsw]", "[0]") == c.outer { // equal fields
				want = fmt.Sprintf("axes[1].field must not be a part of that of axes[0], %s; got %s", fields[0], fields[1])
			}
			for _, path := range []string{studies, studies + "/preview"} {
				if got := user.Post(path, object{"name": "s", "base": c.base, "axes": axes}).Refused(400, "VALIDATION_ERROR"); got != want {
					t.Errorf("%v are refused with %q, want %q", fields, got, want)
				}
			}
		}
	}
	apart := []object{{"field": "workload.phases[0].dataSize", "values": []any{1024}}, {"field": "workload.phases[0].algorithm", "values": []any{"ring"}}}
	user.Post(studies+"/preview", with(algorithms(), object{"axes": apart})).Want(200)
}

// TestAPreviewOutOfTime: a preview and a start that run out of time say how many points fit,
// and nothing of an outcome to ask for again.
func TestAPreviewOutOfTime(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(auth.WithCaller(t.Context(), auth.Caller{UserID: "u", AccountID: testworld.Account, AllWorkspaces: true}))
	defer cancel()
	checked := 0
	a := &writeapi.API{Check: func(string, []byte) error {
		if checked++; checked == 60 {
			cancel()
		}
		return nil
	}}
	var body api.StudyStart
	text, err := json.Marshal(sizes(100))
	if err == nil {
		err = json.Unmarshal(text, &body)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.PreviewStudy(ctx, api.PreviewStudyRequestObject{Body: &body})
	late(t, err, "100 points take too long; some 60 of them fit into the time of a request")
	a.Check = nil
	a.ForecastStudy = func(ctx context.Context, _ events.StudyStarted) (f api.StudyForecast, err error) {
		return f, plan.OutOfTime{Done: 40, Cause: context.DeadlineExceeded}
	}
	_, err = a.PreviewStudy(auth.WithCaller(t.Context(), auth.Caller{UserID: "u", AccountID: testworld.Account, AllWorkspaces: true}), api.PreviewStudyRequestObject{Body: &body})
	late(t, err, "100 points take too long; some 70 of them fit into the time of a request") // 100 and 40 of 200 steps
}

func late(t *testing.T, err error, want string) {
	t.Helper()
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || f.Code != fault.Unavailable || f.Message != want || f.RetryAfter <= 0 {
		t.Errorf("got %v, want 503 with Retry-After and %q", err, want)
	}
}

// TestADeletedRunLeavesItsFigures: the row of a completed point keeps its figures and loses
// the simulation when that is deleted, in the study that ran it and in one that took its result.
func TestADeletedRunLeavesItsFigures(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	body := sizes(2)
	first := startStudy(user, body)
	awaitStudy(user, first, "completed")
	second := startStudy(user, with(body, object{"name": "again"}))
	awaitStudy(user, second, "completed")
	before := rowsOf(user, first)
	user.Delete(simulations + "/" + before[0]["simulationId"].(string)).Want(200)
	for _, id := range []string{first, second} {
		rows := rowsOf(user, id)
		if rows[0]["simulationId"] != nil || rows[0]["status"] != "completed" || rows[1]["simulationId"] != before[1]["simulationId"] {
			t.Errorf("the rows are %v, want the first without its simulation", rows)
		}
		same(t, "the figures", before[0]["figures"], rows[0]["figures"])
		analysis := user.Get(studies + "/" + id + "/analysis").Want(200).Object()
		if front := analysis["front"].([]any); len(front) == 0 || front[0].(object)["point"] == 0.0 && front[0].(object)["simulationId"] != nil {
			t.Errorf("the front is %v, want it without the deleted simulation", front)
		}
		lines := user.Get(studies + "/" + id + "/results?format=csv").Want(200)
		if strings.Contains(string(lines.Body), before[0]["simulationId"].(string)) {
			t.Errorf("the table names the deleted simulation:\n%s", lines.Body)
		}
	}
}
