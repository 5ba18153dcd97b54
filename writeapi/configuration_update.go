package writeapi

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"netsim/api"
	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/simulator/document"
	"netsim/simulator/validation"
)

// UpdateConfiguration implements PATCH /configurations/{config_id}
// (completions.md section 3.5 row 4): each member of the request replaces the
// stored one.
func (a *API) UpdateConfiguration(ctx context.Context, r api.UpdateConfigurationRequestObject) (api.UpdateConfigurationResponseObject, error) {
	update, err := readUpdate(r.Body)
	if err != nil {
		return nil, err
	}
	update.ID = r.ConfigID
	after, err := a.edit(ctx, edit{"UpdateConfiguration", []string{r.ConfigID}, headers(r.Params), r.Body},
		func(c commands.Configuration, m commands.Match) (_ decision, err error) {
			if !m.Given {
				return nil, fault.New(fault.PreconditionRequired, "if-match is required: name the version that is changed, such as \"%d\"", c.Version)
			}
			update.Match = m
			if t := r.Body.ActiveTraceset; t != nil && t.ID != c.TracesetID {
				update.TracesetID = t.ID
				update.RankCount, err = a.rankCount(ctx, "activeTraceset.id", t.ID)
			}
			return update, err
		})
	if err != nil {
		return nil, err
	}
	whole, tag, err := after.whole()
	if err != nil {
		return nil, err
	}
	if whole.Warnings, err = after.unreached(); err != nil {
		return nil, err
	}
	return api.UpdateConfiguration200JSONResponse{Body: whole, Headers: api.UpdateConfiguration200ResponseHeaders{ETag: tag}}, nil
}

// unreached returns a warning for each declared component that the response omits
// because the topology does not reach it.
func (e edited) unreached() (warnings []string, err error) {
	doc, err := document.Parse(e.Document)
	if err != nil {
		return nil, err
	}
	reached := validation.Reachable(doc)
	for i := range doc.Components {
		if name := doc.Components[i].Name; !reached[name] {
			warnings = append(warnings, fmt.Sprintf("component %s is declared and not reachable from the topology; include=all lists it", name))
		}
	}
	return warnings, nil
}

// readUpdate reads an update, except its references to other resources.
func readUpdate(body *api.ConfigurationUpdate) (commands.UpdateConfiguration, error) {
	var update commands.UpdateConfiguration
	if body.Name != nil { // null leaves update.Name empty
		if err := json.Unmarshal(body.Name, &update.Name); err != nil {
			return update, fmt.Errorf("read the name: %w", err)
		}
	}
	sent := documentMembers{body.Applications, body.Components, body.Containers, body.Links, body.Topology, body.GlobalParameters}
	if err := sent.checkParams(); err != nil {
		return update, refusal(err)
	}
	text, err := json.Marshal(sent)
	if err != nil {
		return update, fmt.Errorf("read the members: %w", err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return update, fmt.Errorf("read the members: %w", err)
	}
	if len(members) == 0 && body.Name == nil && body.ActiveTraceset == nil {
		return update, fault.New(fault.Validation, "the request body must have at least one member to change")
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		update.Members = append(update.Members, events.DocumentMember{Member: name, Value: string(members[name])})
	}
	return update, nil
}
