package writeapi

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"netsim/api"
	"netsim/commands"
	"netsim/fault"
	web "netsim/infra/http"
	"netsim/simulator/design"
)

// edit is a request to change a configuration.
type edit struct {
	operation string   // of the contract
	path      []string // the configuration's id, and the names below it
	headers   headers
	body      any // nil for none
}

// headers are those of every request that changes a configuration.
type headers struct {
	IfMatch        api.IfMatch
	IdempotencyKey api.IdempotencyKey
}

// decision is a command to a configuration.
type decision = commands.Command[commands.Configuration]

// edited is a configuration as it is after a change, whose version it is of.
type edited struct {
	commands.Configuration
	tag string
}

// A decider makes the command for a configuration, of whose version the request
// may have said something.
type decider = func(commands.Configuration, commands.Match) (decision, error)

// edit changes a configuration and returns it as it is then.
func (a *API) edit(ctx context.Context, e edit, decide decider) (edited, error) {
	version, err := a.editVersion(ctx, e, decide)
	if err != nil {
		return edited{}, err
	}
	return a.asOf(ctx, e.path[0], version)
}

// editWhole changes a configuration and returns it as reads show it.
func (a *API) editWhole(ctx context.Context, e edit, decide decider) (api.Configuration, string, error) {
	if _, err := a.editVersion(ctx, e, decide); err != nil {
		return api.Configuration{}, "", err
	}
	return a.Configurations.Configuration(ctx, e.path[0])
}

// editVersion sends the command that decide makes for the newest version of a
// configuration that the caller may change, and returns the version that it
// made, 0 for none. A repetition is not decided again. If-Match is looked at
// before decide, and again by the command, which may find another version
// (completions.md sections 1.3, 1.5).
func (a *API) editVersion(ctx context.Context, e edit, decide decider) (version int64, err error) {
	id := e.path[0]
	w, err := newWrite(ctx, e.operation, strings.Join(e.path, "/"), e.headers.IdempotencyKey, e.body)
	if err != nil {
		return 0, err
	}
	w.stream = id
	match, err := matchOf(e.headers.IfMatch)
	if err != nil {
		return 0, err
	}
	_, err = a.once(ctx, w, func() error {
		c, command, err := a.admit(ctx, id, match, decide)
		if err != nil {
			return err
		}
		result, err := commands.Handle(ctx, a.Commands, w.existing(c.WorkspaceID), w.origin, command)
		if err == nil && result.Event != nil {
			version = commands.VersionMade(result.Event.Data)
		}
		return err
	})
	return version, err
}

// admit checks what can be refused before the command, and makes the command.
func (a *API) admit(ctx context.Context, id string, match commands.Match, decide decider) (commands.Configuration, decision, error) {
	c, err := a.mutable(ctx, id)
	if err != nil {
		return c, nil, err
	}
	if err := match.Check(c.Version); err != nil {
		return c, nil, err
	}
	command, err := decide(c, match)
	return c, command, err
}

// asOf is the configuration as of the version that a change made, whatever
// others have made of it since, or of the newest for 0.
func (a *API) asOf(ctx context.Context, id string, version int64) (edited, error) {
	var c commands.Configuration
	var err error
	if version > 0 {
		c, err = a.Configurations.ConfigurationAt(ctx, id, version)
	} else {
		c, err = a.Configurations.AdmitConfiguration(ctx, id)
	}
	return edited{c, web.ETag(c.Version)}, err
}

// always is the decision that needs to know nothing beforehand.
func always(command func(commands.Match) decision) decider {
	return func(_ commands.Configuration, m commands.Match) (decision, error) { return command(m), nil }
}

// declared is everything that the configuration declares, reachable or not. A
// part that somebody else has removed since a repeated change is not found.
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

// parameters is the tree of one kind's target, as design.Document names them.
func (e edited) parameters(kind, target string) (api.Params, error) {
	document, err := design.Parse(e.Document)
	if err != nil {
		return nil, err
	}
	tree, found := document.Parameters(kind, target)
	if !found {
		return nil, fault.New(fault.NotFound, "%s %s does not exist", kind, target)
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
		return none, fault.New(fault.NotFound, "%s %s does not exist", kind, name)
	}
	return list[i], nil
}
