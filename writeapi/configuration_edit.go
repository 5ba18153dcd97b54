package writeapi

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"netsim/api"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/fault"
	"netsim/infra/web"
	"netsim/simulator/document"
)

// edit is a request to change a configuration.
type edit struct {
	operation string   // its name in the contract
	path      []string // the configuration's id, and the names after it in the path
	headers   headers
	body      any // nil for none
}

// headers are the headers of every request that changes a configuration.
type headers struct {
	IfMatch        api.IfMatch
	IdempotencyKey api.IdempotencyKey
}

// decision is a command on a configuration.
type decision = commands.Command[commands.Configuration]

// edited is a configuration after a change, with the entity tag of that version.
type edited struct {
	commands.Configuration
	tag   string
	whole func() (api.Configuration, string, error) // the view of all of it, and its tag
}

// decider makes the command for a configuration. The command checks If-Match.
type decider = func(commands.Configuration, commands.Match) (decision, error)

// edit runs the command that decide makes for the newest version of a
// configuration. It returns the configuration after the command, without later
// changes. If nothing changed, or the write is a repetition, it returns the newest
// version. If-Match is checked before decide, and again by the command, because
// there may be a newer version by then.
func (a *API) edit(ctx context.Context, e edit, decide decider) (edited, error) {
	id := e.path[0]
	w, err := newWrite(ctx, e.operation, strings.Join(e.path, "/"), e.headers.IdempotencyKey, e.body)
	if err != nil {
		return edited{}, err
	}
	w.stream = id
	match, err := matchOf(e.headers.IfMatch)
	if err != nil {
		return edited{}, err
	}
	view := a.Views.ConfigurationView(id)
	var result handle.Result
	_, err = a.once(ctx, w, func() error {
		c, after, err := a.mutable(ctx, id)
		if err != nil {
			return err
		}
		view = after
		command, err := checked(c, match, decide)
		if err == nil {
			result, err = handle.Command(ctx, a.Commands, w.existing(c.WorkspaceID), w.origin, command)
		}
		return err
	})
	if err != nil {
		return edited{}, err
	}
	whole := func() (api.Configuration, string, error) { return view(ctx, result.Event, result.State) }
	if made, ok := result.State.(*commands.Configuration); ok {
		return edited{*made, web.ETag(made.Version), whole}, nil
	}
	c, err := a.Views.AdmitConfiguration(ctx, id)
	return edited{c, web.ETag(c.Version), whole}, err
}

// editWhole changes a configuration and returns all of it.
func (a *API) editWhole(ctx context.Context, e edit, decide decider) (api.Configuration, string, error) {
	after, err := a.edit(ctx, e, decide)
	if err != nil {
		return api.Configuration{}, "", err
	}
	return after.whole()
}

// checked checks If-Match and makes the command.
func checked(c commands.Configuration, match commands.Match, decide decider) (decision, error) {
	if err := match.Check(c.Version); err != nil {
		return nil, err
	}
	return decide(c, match)
}

// always returns a decider whose command does not depend on the configuration.
func always(command func(commands.Match) decision) decider {
	return func(_ commands.Configuration, m commands.Match) (decision, error) { return command(m), nil }
}

// declared returns all declarations of the configuration, reachable or not. After
// a repetition some may be missing, because another client removed them.
func (e edited) declared() (api.ConfigurationVersion, error) {
	var view api.ConfigurationVersion
	if err := json.Unmarshal([]byte(e.Document), &view); err != nil {
		return view, fmt.Errorf("read the document: %w", err)
	}
	return view, nil
}

func (e edited) component(name string) (api.Component, error) {
	view, err := e.declared()
	if err != nil {
		return api.Component{}, err
	}
	return named(slices.Concat(view.Components, view.Links), "component", name, func(c api.Component) string { return c.Name })
}

func (e edited) container(name string) (api.Container, error) {
	view, err := e.declared()
	if err != nil {
		return api.Container{}, err
	}
	return named(view.Containers, "container", name, func(c api.Container) string { return c.Name })
}

func (e edited) application(name string) (api.Application, error) {
	view, err := e.declared()
	if err != nil {
		return api.Application{}, err
	}
	return named(view.Applications, "application", name, func(a api.Application) string { return a.Name })
}

// parameters returns the parameter tree of a target, whose kind is one of
// document.OfComponent, ….
func (e edited) parameters(kind, target string) (api.Params, error) {
	doc, err := document.Parse(e.Document)
	if err != nil {
		return nil, err
	}
	tree, found := doc.Parameters(kind, target)
	if !found {
		return nil, fault.Missing(kind, target)
	}
	text, err := json.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("encode the parameters of %s %s: %w", kind, target, err)
	}
	return text, nil
}

func named[T any](list []T, kind, name string, nameOf func(T) string) (T, error) {
	i := slices.IndexFunc(list, func(item T) bool { return nameOf(item) == name })
	if i < 0 {
		var none T
		return none, fault.Missing(kind, name)
	}
	return list[i], nil
}
