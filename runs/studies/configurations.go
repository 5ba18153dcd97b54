package studies

import (
	"context"
	"fmt"
	"strconv"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/projections"
	"netsim/runs/execution"
	"netsim/runs/studies/plan"
	"netsim/simulator/document"
)

// configurations are the points of a study of a configuration. Each run has a
// configuration of its own, which is made before the run is requested.
type configurations struct {
	*Worker

	study   *projections.Study
	plan    *plan.Plan
	sources *plan.Sources
}

// ConfigurationID returns the id of the configuration of a point of a study of a
// configuration. All runs of the point have it.
func ConfigurationID(study string, point int64) string {
	return events.DerivedID(events.ConfigurationPrefix, study, strconv.FormatInt(point, 10))
}

// SourcesOf reads what a study of a configuration and its axes name, whether or not it was
// deleted meanwhile.
func SourcesOf(ctx context.Context, db projections.Reader, s *projections.Study, p *plan.Plan) (*plan.Sources, error) {
	sources, err := readSources(ctx, db, s, p)
	if err != nil {
		return nil, fmt.Errorf("the sources of study %s: %w", s.ID, err)
	}
	return sources, nil
}

func readSources(ctx context.Context, db projections.Reader, s *projections.Study, p *plan.Plan) (*plan.Sources, error) {
	base, err := plan.ConfigurationBase(s.Base)
	if err != nil {
		return nil, err
	}
	version, err := projections.FindConfigurationVersion(ctx, db, base.ConfigurationID, base.ConfigurationVersion)
	if err != nil {
		return nil, err
	}
	sources := &plan.Sources{
		Base: base.ConfigurationID, Duration: base.Duration, Document: version.Document, Traceset: version.TracesetID, MappingFile: version.MappingFileID,
		Templates: map[string]string{}, Tracesets: map[string]plan.TracesetRef{}, Files: map[string]string{},
	}
	for field, read := range map[string]func(id string) error{
		plan.Template: func(id string) error { // a template has one version
			v, err := projections.FindConfigurationVersion(ctx, db, id, 1)
			sources.Templates[id] = v.Document
			return err
		},
		plan.Traceset: func(id string) error {
			t, err := projections.FindTraceset(ctx, db, id)
			sources.Tracesets[id] = plan.TracesetRef{Ranks: t.RankCount, Format: t.Format, Library: t.LibraryHash}
			return err
		},
		plan.MappingFile: func(id string) error {
			m, err := projections.FindMappingFile(ctx, db, id)
			sources.Files[id] = m.ContentHash
			return err
		},
	} {
		_, ids, err := plan.Named(p, field)
		if err != nil {
			return nil, err
		}
		switch field {
		case plan.Traceset:
			ids = append(ids, sources.Traceset)
		case plan.MappingFile:
			ids = append(ids, sources.MappingFile)
		}
		for _, id := range ids {
			if id == "" {
				continue
			}
			if err := read(id); err != nil {
				return nil, err
			}
		}
	}
	return sources, nil
}

func (c *configurations) request(point int64) (r events.SimulationRequested, ranks int64, err error) {
	made, err := c.sources.Configured(c.plan, int(point))
	if err != nil {
		return r, 0, err
	}
	order := execution.Order{DocumentHash: execution.Hash(made.Text), DurationNs: made.Duration.Nanoseconds()}
	if made.Traceset != "" {
		t := c.sources.Tracesets[made.Traceset]
		order.Traceset = &execution.Traceset{Format: t.Format, LibraryHash: t.Library}
	}
	if made.MappingFile != "" {
		order.MappingFile = &execution.MappingFile{File: execution.File{Hash: c.sources.Files[made.MappingFile]}}
	}
	r = requestOf(c.study, point, order.InputHash())
	r.Origin, r.TracesetID, r.MappingFileID = commands.OriginStart, made.Traceset, made.MappingFile
	r.ConfigurationID, r.ConfigurationVersion = ConfigurationID(c.study.ID, point), 1
	if made.MappingFile != "" {
		r.ConfigurationVersion = 2 // the one with the file, see prepare
	}
	r.DurationNs, r.Duration = made.Duration.Nanoseconds(), made.DurationAs
	return r, made.Ranks, nil
}

// prepare makes the configuration of a point. Its document was checked when the study was
// started, so it is validated. If its owner changes it before the file is attached, the
// run finds no validated version 2, and its recheck says so.
func (c *configurations) prepare(ctx context.Context, point int64) error {
	made, err := c.sources.Configured(c.plan, int(point))
	if err != nil {
		return err
	}
	text := made.Text
	if made.MappingFile != "" {
		made.Document.SetMapping("")
		if text, err = document.Canonical(made.Document); err != nil {
			return err
		}
	}
	id := ConfigurationID(c.study.ID, point)
	to := handle.Target{Stream: id, PartitionKey: c.study.WorkspaceID}
	from := origin(c.study)
	base, err := plan.ConfigurationBase(c.study.Base)
	if err != nil {
		return err
	}
	_, err = handle.Command(ctx, c.Commands, to, from.Derive(id, "create"), commands.CreateConfiguration{Created: events.ConfigurationCreated{
		AccountID: c.study.AccountID, WorkspaceID: c.study.WorkspaceID, Name: nameOf(c.study, point),
		Document: text, ComponentCount: int64(made.Document.ComponentCount()), Status: commands.Validated,
		TracesetID: made.Traceset, RankCount: made.Ranks, ParentConfigurationID: base.ConfigurationID,
	}})
	if err != nil || made.MappingFile == "" {
		return err
	}
	_, err = handle.Command(ctx, c.Commands, to, from.Derive(id, "map"), commands.AttachMappingFile{
		ID: id, MappingFileID: made.MappingFile, Live: true, RankCount: made.Ranks,
	})
	if err == nil {
		_, err = handle.Command(ctx, c.Commands, to, from.Derive(id, "validate"), commands.ValidateConfiguration{
			ID: id, Version: 2, Status: commands.Validated,
		})
	}
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}
