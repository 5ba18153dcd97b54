package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"netsim/sdk/go/api"
)

type simSubmit struct {
	options
	File          string `arg:"" optional:"" type:"path" help:"A file with a simple submission, or, if it has a configurationId, with the start of a configuration's simulation, in JSON; - is standard input."`
	Configuration string `xor:"what" placeholder:"ID" predictor:"configuration" help:"Simulate this configuration."`
	Template      string `xor:"what" placeholder:"ID" predictor:"template" help:"Make a configuration from this template, and simulate it."`
	Name          string `placeholder:"NAME" help:"The name of the simulation; with --template, of the configuration, too."`
	Duration      string `placeholder:"TIME" help:"How much time to simulate, such as 10ms; with --configuration and --template."`
	Workspace     string `placeholder:"ID" predictor:"workspace" help:"Where to make what is made."`
	Watch         bool   `help:"Follow the simulation until it has ended, as sim watch does."`
}

// Help implements kong.HelpProvider.
func (simSubmit) Help() string {
	return `The smallest submission: {"workload": {"ranks": 8, "phases": [{"operationType": "allReduce", "dataSize": 1048576}]}}`
}

// Validate implements kong.Validatable.
func (c simSubmit) Validate() error {
	configured := c.Configuration != "" || c.Template != ""
	switch {
	case (c.File != "") == configured:
		return fmt.Errorf("give a file, or --configuration, or --template")
	case configured && (c.Name == "" || c.Duration == ""):
		return fmt.Errorf("--configuration and --template need --name and --duration")
	case !configured && c.Duration != "":
		return fmt.Errorf("--duration is for --configuration and --template")
	}
	return c.options.Validate()
}

// Run submits a simulation.
func (c simSubmit) Run(ctx context.Context, t *Terminal) error {
	return c.run(ctx, t, func(ctx context.Context, s *session) error {
		id, submitted, err := c.submit(ctx, s)
		if err != nil {
			return err
		}
		if c.Watch {
			return s.watch(ctx, id)
		}
		return s.print(t, line(submitted, "%s", id))
	})
}

// submit returns the id of the simulation, and what the service answered.
func (c simSubmit) submit(ctx context.Context, s *session) (string, any, error) {
	if c.File == "" {
		return c.start(ctx, s)
	}
	text, err := s.read(c.File)
	if err != nil {
		return "", nil, err
	}
	var start api.SimulationStart
	if json.Unmarshal(text, &start) == nil && start.ConfigurationID != "" {
		start.Name, start.WorkspaceID = cmp.Or(c.Name, start.Name), cmp.Or(c.Workspace, start.WorkspaceID)
		return started(s.StartSimulation(ctx, nil, start))
	}
	var submission api.SimpleSubmission
	if err := strict(c.File, text, &submission); err != nil {
		return "", nil, err
	}
	if c.Workspace != "" {
		return "", nil, fmt.Errorf("%w: a simple submission has no workspace", errUsage)
	}
	submission.Name = cmp.Or(c.Name, submission.Name)
	accepted, err := s.SubmitSimple(ctx, nil, submission)
	if err != nil {
		return "", nil, err
	}
	return accepted.SimulationID, accepted, nil
}

func (c simSubmit) start(ctx context.Context, s *session) (string, any, error) {
	id := c.Configuration
	if c.Template != "" {
		made, err := s.CloneTemplate(ctx, c.Template, nil, api.TemplateClone{Name: c.Name, WorkspaceID: c.Workspace})
		if err != nil {
			return "", nil, err
		}
		if _, err := s.ValidateConfiguration(ctx, made.ID, nil); err != nil {
			return "", nil, err
		}
		id = made.ID
	}
	return started(s.StartSimulation(ctx, nil, api.SimulationStart{ConfigurationID: id, Name: c.Name, Duration: c.Duration, WorkspaceID: c.Workspace}))
}

func started(run *api.Simulation, err error) (string, any, error) {
	if err != nil {
		return "", nil, err
	}
	return run.ID, run, nil
}

// read reads a file, or standard input for "-".
func (t *Terminal) read(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(t.In)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	return text, nil
}

// strict decodes a file in JSON, whose members must all be known.
func strict(path string, text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("%w: %s: %w", errUsage, path, err)
	}
	return nil
}
