package writeapi

import (
	"context"
	"fmt"

	"netsim/api"
	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/runs/studies/plan"
	"netsim/simulator/document"
	"netsim/simulator/units"
	"netsim/simulator/validation"
)

// The bounds of a study of a configuration: every document is validated while its client
// waits, and its network is unfolded for it.
const (
	maxStudyDocuments = 1000
	maxStudyServers   = 1 << 20 // of all documents
)

// readConfigurationBase reads the base of a study of a configuration, and checks its points
// and everything that they name.
func (a *API) readConfigurationBase(ctx context.Context, base api.StudyBase, p *plan.Plan, started *events.StudyStarted) error {
	from := *base.Configuration
	newest, err := a.Views.AdmitConfiguration(ctx, from.ConfigurationID)
	if err != nil {
		return err
	}
	if newest.WorkspaceID == events.TemplateWorkspace {
		return inTemplateWorkspace()
	}
	if from.ConfigurationVersion == 0 {
		from.ConfigurationVersion = newest.Version
	} else if _, err := a.Views.ConfigurationAt(ctx, from.ConfigurationID, from.ConfigurationVersion); err != nil {
		return err
	}
	if _, err := units.ParseDuration(from.Duration); err != nil {
		return fault.New(fault.Validation, "base.configuration.duration %s", err)
	}
	started.WorkspaceID, started.Kind = newest.WorkspaceID, commands.StudyOfConfiguration
	if started.Base, err = document.Canonical(from); err != nil {
		return err
	}
	if err := plan.CheckFields(p); err != nil {
		return err
	}
	if err := a.admitNamed(ctx, p, started.WorkspaceID); err != nil {
		return err
	}
	sources, err := a.StudySources(ctx, *started)
	if err != nil {
		return err
	}
	sources.Check = a.Check
	for _, base := range sources.Bases() {
		if err := p.Apart(base); err != nil {
			return err
		}
	}
	return a.checkPoints(ctx, p, sources)
}

// admitNamed returns an error unless the caller may use everything that the axes name.
func (a *API) admitNamed(ctx context.Context, p *plan.Plan, workspace string) error {
	for _, named := range []struct {
		field string
		admit func(id string) error
	}{
		{plan.Template, func(id string) error {
			_, err := a.Views.AdmitTemplate(ctx, id)
			return err
		}},
		{plan.Traceset, func(id string) error {
			_, err := a.rankCount(ctx, plan.Traceset, id)
			return err
		}},
		{plan.MappingFile, func(id string) error {
			in, err := a.Views.AdmitMappingFile(ctx, id)
			if err == nil && in != workspace {
				err = fault.New(fault.NotFound, "mapping file %s is not in workspace %s", id, workspace)
			}
			return err
		}},
	} {
		axis, ids, err := plan.Named(p, named.field)
		if err != nil {
			return err
		}
		for k, id := range ids {
			if id == "" {
				continue
			}
			switch err := named.admit(id); fault.CodeOf(err) {
			case fault.NotFound, fault.Validation, fault.Conflict, fault.Unprocessable:
				return fault.New(fault.Validation, "axes[%d].values[%d]: %s", axis, k, err)
			default:
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// checkPoints returns the fault of the first point that cannot run.
func (a *API) checkPoints(ctx context.Context, p *plan.Plan, sources *plan.Sources) error {
	if p.Documents() > maxStudyDocuments {
		return fault.New(fault.Validation, "the points have more than %d different documents", maxStudyDocuments)
	}
	type checked struct{ text, traceset, file string }
	seen := map[checked]bool{}
	attached := map[checked]validation.Attachments{} // by traceset and file
	servers := 0
	return p.Each(ctx, func(point int) error {
		c, err := sources.Configured(p, point)
		if err != nil {
			return err
		}
		key := checked{c.Text, c.Traceset, c.MappingFile}
		if seen[key] {
			return nil
		}
		seen[key] = true
		if err := commands.CheckSize(c.Text); err != nil {
			return err
		}
		files := checked{traceset: c.Traceset, file: c.MappingFile}
		with, has := attached[files]
		if !has {
			if with, err = a.attachments(ctx, c.Traceset, c.MappingFile); err != nil {
				return err
			}
			attached[files] = with
		}
		findings, fabric := validation.Survey(c.Document, with)
		for _, f := range findings {
			if f.Severity == validation.Error {
				return plan.Refuse(p, point, fmt.Errorf("%s", f.Message))
			}
		}
		if servers += len(fabric.Hosts); servers > maxStudyServers {
			return fault.New(fault.Validation, "the networks of the points have more than %d servers", maxStudyServers)
		}
		return nil
	})
}
