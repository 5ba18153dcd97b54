package api_test

import (
	"os"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v3"

	"netsim/api"
)

// workflowStep is a step of workflows.arazzo.yaml.
type workflowStep struct {
	StepID      string `yaml:"stepId"`
	OperationID string `yaml:"operationId"`
	Elsewhere   struct {
		URL string `yaml:"url"`
	} `yaml:"x-operation"`
	Parameters []struct{ Reference, Name, In string }
}

// TestWorkflowsAreOfTheContract: every step of workflows.arazzo.yaml is an operation of the
// contract with the parameters that it requires, or goes to a link that a step before got.
func TestWorkflowsAreOfTheContract(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(api.Document())
	if err != nil {
		t.Fatal(err)
	}
	required := map[string][]string{} // of each operation, as "in name"
	taken := map[string][]string{}
	for _, item := range doc.Paths.Map() {
		for _, operation := range item.Operations() {
			id := operation.OperationID
			taken[id] = []string{}
			for _, p := range slices.Concat(item.Parameters, operation.Parameters) {
				name := p.Value.In + " " + p.Value.Name
				taken[id] = append(taken[id], name)
				if p.Value.Required {
					required[id] = append(required[id], name)
				}
			}
		}
	}
	text, err := os.ReadFile("workflows.arazzo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Arazzo             string
		SourceDescriptions []struct{ URL, Type string } `yaml:"sourceDescriptions"`
		Workflows          []struct {
			WorkflowID string `yaml:"workflowId"`
			Steps      []workflowStep
		}
	}
	if err := yaml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	steps := 0
	for _, w := range document.Workflows {
		for _, step := range w.Steps {
			steps++
			at := w.WorkflowID + "/" + step.StepID
			if step.OperationID == "" {
				if step.Elsewhere.URL == "" {
					t.Errorf("%s is neither an operation nor a request to a link", at)
				}
				continue
			}
			if taken[step.OperationID] == nil {
				t.Errorf("%s: the contract has no operation %q", at, step.OperationID)
				continue
			}
			var given []string
			for _, p := range step.Parameters {
				if p.Reference == "" {
					given = append(given, p.In+" "+p.Name)
				}
			}
			for _, name := range given {
				if !slices.Contains(taken[step.OperationID], name) {
					t.Errorf("%s: %s does not take the parameter %q", at, step.OperationID, name)
				}
			}
			for _, name := range required[step.OperationID] {
				if !slices.Contains(given, name) {
					t.Errorf("%s: %s requires the parameter %q", at, step.OperationID, name)
				}
			}
		}
	}
	if len(document.SourceDescriptions) != 1 || document.SourceDescriptions[0].URL != "openapi.yaml" || document.Arazzo != "1.0.1" || steps < 30 {
		t.Errorf("Arazzo %s of %v with %d steps", document.Arazzo, document.SourceDescriptions, steps)
	}
}
