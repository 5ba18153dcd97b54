// Program oapi-codegen is the journey of ../run with the client of oapi-codegen, which
// the stage puts beside this file.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

// must returns a value, or ends the program.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// ok returns what an operation answered with success.
func ok[T any](value *T, err *Error, status string) *T {
	if value == nil {
		log.Fatalf("%s: %+v", status, err)
	}
	return value
}

// until waits until something is done.
func until(done func() bool) {
	for !done() {
		time.Sleep(100 * time.Millisecond)
	}
}

func check(holds bool, what ...any) {
	if !holds {
		log.Fatal(what...)
	}
}

func pointer[T any](value T) *T { return &value }

func main() {
	ctx := context.Background()
	c := must(NewClientWithResponses(os.Getenv("NETSIM_URL"), WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+os.Getenv("NETSIM_TOKEN"))
		return nil
	})))

	made := must(c.CreateWorkspaceWithResponse(ctx, nil, WorkspaceCreate{Name: "by oapi-codegen"}))
	workspace := ok(made.JSON201, made.JSON400, made.Status())
	listed := must(c.ListTemplatesWithResponse(ctx, &ListTemplatesParams{Category: pointer(GettingStarted)}))
	templates := ok(listed.JSON200, listed.JSON400, listed.Status()).Templates
	cloned := must(c.CloneTemplateWithResponse(ctx, templates[0].Id, nil, TemplateClone{Name: "rack", WorkspaceId: &workspace.Id}))
	configuration := ok(cloned.JSON201, cloned.JSON400, cloned.Status())
	validated := must(c.ValidateConfigurationWithResponse(ctx, configuration.Id, nil))
	check(ok(validated.JSON200, validated.JSON404, validated.Status()).Valid, "the configuration is not valid")

	for _, name := range []string{"first", "second"} {
		started := must(c.StartSimulationWithResponse(ctx, nil, SimulationStart{ConfigurationId: configuration.Id, Name: name, Duration: "1s"}))
		id := ok(started.JSON201, started.JSON400, started.Status()).Id
		until(func() bool {
			read := must(c.GetSimulationWithResponse(ctx, id, nil))
			return ok(read.JSON200, read.JSON404, read.Status()).Status == SimulationStatusCompleted
		})
		read := must(c.GetResultsWithResponse(ctx, id, nil))
		files := ok(read.JSON200, read.JSON400, read.Status()).Files
		check(slices.ContainsFunc(files, func(f ResultFile) bool { return f.Name == "summary.json" }), "no summary.json among", files)
	}

	var names []string
	for next := (*PageCursor)(nil); ; {
		read := must(c.ListSimulationsWithResponse(ctx, &ListSimulationsParams{WorkspaceId: &workspace.Id, Limit: pointer(int64(1)), Next: next}))
		page := ok(read.JSON200, read.JSON400, read.Status())
		for _, simulation := range page.Simulations {
			names = append(names, simulation.Name)
		}
		if next = page.Pagination.NextCursor; next == nil {
			break
		}
	}
	check(slices.Equal(names, []string{"second", "first"}), names)

	// Without the members that have a default.
	simple := SimpleSubmission{Workload: &SimpleWorkload{Ranks: 8, Phases: []SimplePhase{{OperationType: "allReduce", DataSize: 1 << 20}}}}
	axes := []StudyAxis{{Field: "workload.phases[0].dataSize", Values: []json.RawMessage{json.RawMessage("1048576"), json.RawMessage("2097152")}}}
	begun := must(c.StartStudyWithResponse(ctx, nil, StudyStart{Name: "sizes", Base: StudyBase{Simple: &simple}, Axes: axes}))
	study := ok(begun.JSON201, begun.JSON400, begun.Status()).Id
	until(func() bool {
		read := must(c.GetStudyWithResponse(ctx, study, nil))
		return ok(read.JSON200, read.JSON404, read.Status()).Status == StudyStatusCompleted
	})
	compared := must(c.GetStudyResultsWithResponse(ctx, study, nil))
	rows := ok(compared.JSON200, compared.JSON400, compared.Status()).Results
	check(rows[0].Figures.SimulatedTimePs < rows[1].Figures.SimulatedTimePs, "more data takes no more time")
	table := must(c.GetStudyResultsCsvWithResponse(ctx, study, nil))
	check(table.StatusCode() == http.StatusOK && strings.HasPrefix(string(table.Body), "point,"), table.Status())

	missing := must(c.GetWorkspaceWithResponse(ctx, "workspace_0000000000e008000000000009", nil))
	check(missing.StatusCode() == http.StatusNotFound && *missing.JSON404.Error.Code == "NOT_FOUND", missing.Status())
}
