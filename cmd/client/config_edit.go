package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"

	"netsim/cmd/table"
	netsim "netsim/sdk/go"
	"netsim/sdk/go/api"
)

type configEdit struct {
	options
	configuration
}

// Help implements kong.HelpProvider.
func (configEdit) Help() string {
	return "The editor gets what can be changed, in JSON. What is changed replaces its member of the configuration, unless " +
		"another client has changed the configuration meanwhile: then nothing is changed, the other change is shown, and " +
		"your text is kept in a file. A text without a change ends the command."
}

// editable lists the members of a configuration that an update replaces.
func editable() []string {
	return []string{"name", "topology", "components", "containers", "applications", "links", "globalParameters"}
}

// Run edits a configuration.
func (c configEdit) Run(ctx context.Context, t *Terminal) error {
	return c.ask(ctx, t, func(ctx context.Context, s *session) (answer, error) {
		var response *http.Response
		before, err := s.GetConfiguration(ctx, c.ID, all(), netsim.Raw(&response))
		if err != nil {
			return answer{}, err
		}
		tag := api.Tag(response)
		whole, edited := map[string]json.RawMessage{}, map[string]json.RawMessage{}
		if err := json.NewDecoder(response.Body).Decode(&whole); err != nil {
			return answer{}, err
		}
		path, err := s.edit(ctx, c.ID, whole, &edited)
		if err != nil {
			return answer{}, err
		}
		update, err := changed(whole, edited)
		if err != nil {
			return answer{}, fmt.Errorf("%w; your text is in %s", err, path)
		}
		same := line(before, "nothing is changed")
		if len(update) == 0 {
			return same, os.Remove(path)
		}
		body, err := json.Marshal(update)
		if err != nil {
			return answer{}, err
		}
		response, err = s.HTTP.UpdateConfigurationWithBody(ctx, c.ID, &api.UpdateConfigurationParams{IfMatch: &tag}, "application/json", bytes.NewReader(body))
		if err != nil {
			return answer{}, errors.Join(fmt.Errorf("%w; your text is in %s", err, path), s.conflict(ctx, before, err))
		}
		defer response.Body.Close()
		var after api.Configuration
		if err := json.NewDecoder(response.Body).Decode(&after); err != nil {
			return answer{}, err
		}
		if after.Version == before.Version && after.Name == before.Name { // what is missing has its default
			return same, os.Remove(path)
		}
		return line(after, "%s has version %d", after.ID, after.Version), os.Remove(path)
	})
}

// edit has the user edit the members of a configuration, and returns the file with the text.
func (s *session) edit(ctx context.Context, id string, whole map[string]json.RawMessage, edited *map[string]json.RawMessage) (path string, err error) {
	file, err := os.CreateTemp("", filepath.Base(id)+"-*.json")
	if err != nil {
		return "", err
	}
	path = file.Name()
	text := bytes.NewBufferString("{\n")
	for i, member := range editable() {
		if i > 0 {
			text.WriteString(",\n")
		}
		fmt.Fprintf(text, "  %q: ", member)
		if err := json.Indent(text, whole[member], "  ", "  "); err != nil {
			return path, errors.Join(err, file.Close())
		}
	}
	text.WriteString("\n}\n")
	_, err = file.Write(text.Bytes())
	if err := errors.Join(err, file.Close()); err != nil {
		return path, err
	}
	if err := s.Edit(ctx, path); err != nil {
		return path, fmt.Errorf("%w; your text is in %s", err, path)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		return path, err
	}
	if err := json.Unmarshal(after, edited); err != nil {
		return path, fmt.Errorf("%w: this is not the JSON of a configuration: %w; your text is in %s", errUsage, err, path)
	}
	return path, nil
}

// changed returns the members that are not what they were. A member that is missing would stay
// as it is, which its reader would not expect.
func changed(whole, edited map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	update := map[string]json.RawMessage{}
	for _, member := range editable() {
		now, is := edited[member]
		if !is {
			return nil, fmt.Errorf("%w: the member %q is missing", errUsage, member)
		}
		var a, b any
		if err := errors.Join(json.Unmarshal(whole[member], &a), json.Unmarshal(now, &b)); err != nil {
			return nil, err
		}
		if !reflect.DeepEqual(a, b) {
			update[member] = now
		}
	}
	for member, value := range edited {
		if _, is := whole[member]; !is {
			update[member] = value // the service says what is wrong with it
		}
	}
	return update, nil
}

// conflict shows what another client has changed since a configuration was read, if that is why
// an update was refused.
func (s *session) conflict(ctx context.Context, before *api.Configuration, refusal error) error {
	if e, is := errors.AsType[*netsim.Error](refusal); !is || e.Status != http.StatusPreconditionFailed {
		return nil
	}
	now, err := s.GetConfiguration(ctx, before.ID, nil)
	if err != nil {
		return err
	}
	found, err := s.GetConfigurationDiff(ctx, before.ID, &api.GetConfigurationDiffParams{From: &before.Version, To: &now.Version})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(s.Err, "The configuration was changed while you edited it:")
	err = errors.Join(err, changes(s.Err, found))
	if now.Name != before.Name { // which versions do not have
		_, named := fmt.Fprintln(s.Err, "  its name is now", table.Printable(now.Name))
		err = errors.Join(err, named)
	}
	return err
}
