package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"netsim/cmd/table"
	"netsim/sdk/go/api"
)

type configs struct {
	List     configList     `cmd:"" help:"List configurations, the newest first."`
	Show     configShow     `cmd:"" help:"Show a configuration."`
	Diff     configDiff     `cmd:"" help:"Compare two versions of a configuration; the exit code is 1 if they differ."`
	Clone    configClone    `cmd:"" help:"Copy a configuration."`
	Validate configValidate `cmd:"" help:"Validate a configuration; the exit code is 1 if it is not valid."`
	Edit     configEdit     `cmd:"" help:"Change a configuration in the editor of EDITOR."`
}

// configuration names the configuration of a command.
type configuration struct {
	ID string `arg:"" name:"configuration" predictor:"configuration" help:"Its id."`
}

type configList struct {
	options
	page
}

// Validate implements kong.Validatable.
func (c configList) Validate() error { return cmp.Or(c.page.check(), c.options.Validate()) }

// Run lists configurations.
func (c configList) Run(ctx context.Context, t *Terminal) error {
	return c.ask(ctx, t, func(ctx context.Context, s *session) (answer, error) {
		list, rows := []api.ConfigurationListItem{}, [][]string{}
		for found, err := range s.AllConfigurations(ctx, api.ListConfigurationsParams{
			Limit: c.pageSize(), Status: given(c.Status), Search: given(c.Search), WorkspaceID: given(c.Workspace),
		}) {
			if err != nil {
				return answer{}, err
			}
			list = append(list, found)
			rows = append(rows, []string{found.ID, fmt.Sprint(found.Version), string(found.Status), moment(found.ModifiedAt), found.Name})
			if len(list) == c.Limit {
				break
			}
		}
		return answer{list, func(w io.Writer) error {
			return table.Write(w, "there is no configuration", "CONFIGURATION VERSION STATUS MODIFIED NAME", rows)
		}}, nil
	})
}

// all asks for every member of a configuration.
func all() *api.GetConfigurationParams {
	return &api.GetConfigurationParams{Include: new(api.GetConfigurationParamsInclude("all"))}
}

type configShow struct {
	options
	configuration
}

// Run shows a configuration: for people what it consists of, with --json everything.
func (c configShow) Run(ctx context.Context, t *Terminal) error {
	return c.ask(ctx, t, func(ctx context.Context, s *session) (answer, error) {
		found, err := s.GetConfiguration(ctx, c.ID, all())
		if err != nil {
			return answer{}, err
		}
		rows := [][]string{
			{"configuration", found.ID}, {"name", found.Name}, {"version", fmt.Sprint(found.Version)}, {"status", string(found.Status)},
			{"workspace", found.WorkspaceID}, {"modified", moment(found.ModifiedAt)}, {"parent", found.ParentConfigurationID},
		}
		for _, part := range []struct {
			name string
			of   []api.Component
		}{{"component", found.Components}, {"link", found.Links}} {
			for _, one := range part.of {
				rows = append(rows, []string{part.name, one.Name + " (" + one.Model + ")"})
			}
		}
		for _, one := range found.Containers {
			rows = append(rows, []string{"container", one.Name})
		}
		for _, one := range found.Applications {
			rows = append(rows, []string{"application", one.Name + " (" + one.Model + ")"})
		}
		if found.ActiveTraceset != nil {
			rows = append(rows, []string{"traceset", found.ActiveTraceset.ID})
		}
		for _, warning := range found.Warnings {
			rows = append(rows, []string{"warning", warning})
		}
		return answer{found, func(w io.Writer) error { return table.Write(w, "", "", rows) }}, nil
	})
}

type configDiff struct {
	options
	configuration
	From int64 `placeholder:"VERSION" help:"The earlier version; the one before --to when absent."`
	To   int64 `placeholder:"VERSION" help:"The later version; the current one when absent."`
}

// Run compares two versions.
func (c configDiff) Run(ctx context.Context, t *Terminal) error {
	return c.run(ctx, t, func(ctx context.Context, s *session) error {
		found, err := s.GetConfigurationDiff(ctx, c.ID, &api.GetConfigurationDiffParams{From: given(c.From), To: given(c.To)})
		if err != nil {
			return err
		}
		err = s.print(t, answer{found, func(w io.Writer) error { return changes(w, found) }})
		if err == nil && len(found.Changes) > 0 {
			err = errDiffers
		}
		return err
	})
}

// changes says what is different between two versions.
func changes(w io.Writer, found *api.ConfigurationDiff) error {
	_, err := fmt.Fprintf(w, "version %d to %d: %d changes\n", found.From, found.To, len(found.Changes))
	for _, change := range found.Changes {
		_, printed := fmt.Fprintln(w, " ", table.Printable(change.Text))
		err = errors.Join(err, printed)
	}
	return err
}

type configClone struct {
	options
	configuration
	Name      string `required:"" placeholder:"NAME" help:"The name of the copy."`
	Version   int64  `placeholder:"VERSION" help:"The version to copy; the current one when absent."`
	Workspace string `placeholder:"ID" predictor:"workspace" help:"Where to make the copy; where the configuration is when absent."`
}

// Run copies a configuration.
func (c configClone) Run(ctx context.Context, t *Terminal) error {
	return c.ask(ctx, t, func(ctx context.Context, s *session) (answer, error) {
		made, err := s.CloneConfiguration(ctx, c.ID, nil, api.ConfigurationClone{Name: c.Name, Version: c.Version, WorkspaceID: c.Workspace})
		if err != nil {
			return answer{}, err
		}
		return line(made, "%s", made.ID), nil
	})
}

type configValidate struct {
	options
	configuration
}

var errInvalid = errors.New("the configuration is not valid")

// Run validates a configuration.
func (c configValidate) Run(ctx context.Context, t *Terminal) error {
	return c.run(ctx, t, func(ctx context.Context, s *session) error {
		report, err := s.ValidateConfiguration(ctx, c.ID, nil)
		if err != nil {
			return err
		}
		rows := [][]string{}
		for _, list := range [][]api.Finding{report.Errors, report.Warnings, report.Info} {
			for _, f := range list {
				rows = append(rows, []string{string(f.Severity), f.Code, cmp.Or(f.Path, f.Component), f.Message})
			}
		}
		err = s.print(t, answer{report, func(w io.Writer) error {
			if report.Valid && len(rows) == 0 {
				_, err := fmt.Fprintln(w, "the configuration is valid")
				return err
			}
			return table.Write(w, "", "SEVERITY CODE WHERE MESSAGE", rows)
		}})
		if err == nil && !report.Valid {
			err = errInvalid
		}
		return err
	})
}
