package commands_test

import (
	"testing"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
)

// Source: completions 3.4.

func configurationCreated() []events.Data {
	return given(events.ConfigurationCreated{
		AccountID: "acct", WorkspaceID: "workspace_1", Name: "clos", Document: "{}", Status: commands.Draft,
	})
}

func configurationDeleted() []events.Data {
	return and(configurationCreated(), events.ConfigurationDeleted{Reason: "request"})
}

func TestCreateConfiguration(t *testing.T) {
	t.Parallel()
	created := configurationCreated()[0].(events.ConfigurationCreated)
	create := commands.CreateConfiguration{Created: created}
	check(t, []example[commands.Configuration]{
		{"a new one", nil, create, event(created)},
		{"again", configurationCreated(), create, nothing()},
		{"one that is deleted", configurationDeleted(), create, nothing()},
	})
}

func TestRecordValidation(t *testing.T) {
	t.Parallel()
	verdict := func(status, findings string, tags ...string) commands.ValidateConfiguration {
		return commands.ValidateConfiguration{
			ID: "config_1", Version: 1, Status: status, Findings: findings,
			Match: commands.Match{Given: tags != nil, Tags: tags},
		}
	}
	recorded := func(status, findings string) events.Data {
		return events.ConfigurationValidated{Version: 1, Status: status, Findings: findings}
	}
	valid := and(configurationCreated(), recorded(commands.Validated, "[]"))
	superseded := verdict(commands.Validated, "[]")
	superseded.Version = 2
	check(t, []example[commands.Configuration]{
		{"a draft without errors", configurationCreated(), verdict(commands.Validated, "[]"), event(recorded(commands.Validated, "[]"))},
		{"a draft with errors", configurationCreated(), verdict(commands.Invalid, "[1]"), event(recorded(commands.Invalid, "[1]"))},
		{"the recorded verdict", valid, verdict(commands.Validated, "[]"), nothing()},
		{"the same status with other findings", valid, verdict(commands.Validated, "[2]"), event(recorded(commands.Validated, "[2]"))},
		{"valid becomes invalid", valid, verdict(commands.Invalid, "[1]"), event(recorded(commands.Invalid, "[1]"))},
		{"invalid becomes valid", and(valid, recorded(commands.Invalid, "[1]")), verdict(commands.Validated, "[]"), event(recorded(commands.Validated, "[]"))},
		{"the current version", configurationCreated(), verdict(commands.Validated, "[]", "1"), event(recorded(commands.Validated, "[]"))},
		{"a verdict does not make a version", valid, verdict(commands.Validated, "[]", "1"), nothing()},
		{"another version", configurationCreated(), verdict(commands.Validated, "[]", "2"), refusal(fault.PreconditionFailed)},
		{"a version superseded in the meantime", configurationCreated(), superseded, refusal(fault.Conflict)},
		{"of one that does not exist", nil, verdict(commands.Validated, "[]"), refusal(fault.NotFound)},
		{"of one that is deleted", configurationDeleted(), verdict(commands.Validated, "[]"), refusal(fault.NotFound)},
	})
}

func TestDeleteConfiguration(t *testing.T) {
	t.Parallel()
	remove := func(tags ...string) commands.DeleteConfiguration {
		return commands.DeleteConfiguration{
			ID: "config_1", Reason: "request", Match: commands.Match{Given: tags != nil, Tags: tags},
		}
	}
	gone := event(events.ConfigurationDeleted{Reason: "request"})
	check(t, []example[commands.Configuration]{
		{"an existing one", configurationCreated(), remove(), gone},
		{"the current version", configurationCreated(), remove("1"), gone},
		{"another version", configurationCreated(), remove("2"), refusal(fault.PreconditionFailed)},
		{"again", configurationDeleted(), remove(), refusal(fault.NotFound)},
		{"again, at a version", configurationDeleted(), remove("1"), refusal(fault.NotFound)},
		{"one that does not exist", nil, remove(), refusal(fault.NotFound)},
	})
}
