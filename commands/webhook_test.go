package commands_test

import (
	"testing"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
)

// webhookTime is the time at which commands are decided here.
var webhookTime = time.UnixMilli(0) //nolint:gochecknoglobals // a constant

func hooked() events.WebhookCreated {
	return events.WebhookCreated{
		AccountID: "acct", CreatedBy: "ann", URL: "https://a.example", Description: "first", Types: []string{"t"}, Family: "simulations",
		Workspaces: []string{"workspace_1"}, KeyID: "k1",
	}
}

func webhookCreated() []events.Data { return given(hooked()) }

func webhookDeleted() []events.Data { return and(webhookCreated(), events.WebhookDeleted{}) }

func TestCreateWebhook(t *testing.T) {
	t.Parallel()
	create := commands.CreateWebhook{Created: hooked()}
	check(t, []example[commands.Webhook]{
		{"a new one", nil, create, event(hooked())},
		{"one that exists", webhookCreated(), create, refusal(fault.Conflict)},
		{"one that is deleted", webhookDeleted(), create, refusal(fault.Conflict)},
	})
}

func TestUpdateWebhook(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	filter := func(types ...string) *commands.WebhookFilter {
		return &commands.WebhookFilter{Types: types, Family: "simulations"}
	}
	updated := func(url, description string, types ...string) events.WebhookUpdated {
		return events.WebhookUpdated{URL: url, Description: description, Types: types, Family: "simulations"}
	}
	moved := updated("https://b.example", "first", "t")
	at := func(c commands.UpdateWebhook, tags ...string) commands.UpdateWebhook {
		c.Match = commands.Match{Given: true, Tags: tags}
		return c
	}
	move := commands.UpdateWebhook{ID: "webhook_1", URL: "https://b.example"}
	check(t, []example[commands.Webhook]{
		{"another URL keeps the rest", webhookCreated(), move, event(moved)},
		{"another description", webhookCreated(), commands.UpdateWebhook{Description: text("second")}, event(updated("https://a.example", "second", "t"))},
		{"an empty description", webhookCreated(), commands.UpdateWebhook{Description: text("")}, event(updated("https://a.example", "", "t"))},
		{"another filter", webhookCreated(), commands.UpdateWebhook{Filter: filter("t", "u")}, event(updated("https://a.example", "first", "t", "u"))},
		{"no filter", webhookCreated(), commands.UpdateWebhook{Filter: &commands.WebhookFilter{}}, event(events.WebhookUpdated{URL: "https://a.example", Description: "first"})},
		{"nothing", webhookCreated(), commands.UpdateWebhook{}, nothing()},
		{"the same", webhookCreated(), commands.UpdateWebhook{URL: "https://a.example", Description: text("first"), Filter: filter("t")}, nothing()},
		{"the current version", webhookCreated(), at(move, "1"), event(moved)},
		{"an old version", and(webhookCreated(), moved), at(move, "1"), refusal(fault.PreconditionFailed)},
		{"every change counts", and(webhookCreated(), events.WebhookPaused{}, events.WebhookReplayed{}), at(move, "3"), event(moved)},
		{"one that does not exist", nil, move, refusal(fault.NotFound)},
		{"one that is deleted", webhookDeleted(), move, refusal(fault.NotFound)},
	})
}

func TestRotateWebhookSecret(t *testing.T) {
	t.Parallel()
	rotate := commands.RotateWebhookSecret{ID: "webhook_1", KeyID: "k2", Overlap: time.Hour}
	rotated := func(generation int64, overlap time.Duration) events.WebhookSecretRotated {
		return events.WebhookSecretRotated{Generation: generation, KeyID: "k2", FormerUntil: webhookTime.Add(overlap)}
	}
	check(t, []example[commands.Webhook]{
		{"for the first time", webhookCreated(), rotate, event(rotated(2, time.Hour))},
		{"during an overlap", and(webhookCreated(), rotated(2, time.Hour)), rotate, event(rotated(3, time.Hour))},
		{"at once", webhookCreated(), commands.RotateWebhookSecret{KeyID: "k2"}, event(rotated(2, 0))},
		{"of one that does not exist", nil, rotate, refusal(fault.NotFound)},
		{"of one that is deleted", webhookDeleted(), rotate, refusal(fault.NotFound)},
	})
}

func TestStopAndResumeWebhook(t *testing.T) {
	t.Parallel()
	pause, resume := commands.PauseWebhook{ID: "webhook_1"}, commands.ResumeWebhook{ID: "webhook_1"}
	disable, disabled := commands.DisableWebhook{Reason: "gone"}, events.WebhookDisabled{Reason: "gone"}
	paused := events.WebhookPaused{}
	check(t, []example[commands.Webhook]{
		{"pause an active one", webhookCreated(), pause, event(paused)},
		{"pause a paused one", and(webhookCreated(), paused), pause, nothing()},
		{"pause a disabled one", and(webhookCreated(), disabled), pause, refusal(fault.Conflict)},
		{"pause a missing one", nil, pause, refusal(fault.NotFound)},
		{"pause a deleted one", webhookDeleted(), pause, refusal(fault.NotFound)},
		{"resume a paused one", and(webhookCreated(), paused), resume, event(events.WebhookResumed{})},
		{"resume a disabled one", and(webhookCreated(), disabled), resume, event(events.WebhookResumed{})},
		{"resume an active one", webhookCreated(), resume, nothing()},
		{"resume a resumed one", and(webhookCreated(), paused, events.WebhookResumed{}), resume, nothing()},
		{"resume a missing one", nil, resume, refusal(fault.NotFound)},
		{"resume a deleted one", webhookDeleted(), resume, refusal(fault.NotFound)},
		{"disable an active one", webhookCreated(), disable, event(disabled)},
		{"disable a disabled one", and(webhookCreated(), disabled), disable, nothing()},
		{"disable a paused one", and(webhookCreated(), paused), disable, nothing()},
		{"disable a deleted one", webhookDeleted(), disable, nothing()},
		{"disable a missing one", nil, disable, nothing()},
	})
}

func TestReplayAndDeleteWebhook(t *testing.T) {
	t.Parallel()
	replayed := events.WebhookReplayed{Since: webhookTime}
	replay, remove := commands.ReplayWebhook{ID: "webhook_1", Replay: replayed}, commands.DeleteWebhook{ID: "webhook_1"}
	check(t, []example[commands.Webhook]{
		{"replay", webhookCreated(), replay, event(replayed)},
		{"replay again", and(webhookCreated(), replayed), replay, event(replayed)},
		{"replay a missing one", nil, replay, refusal(fault.NotFound)},
		{"replay a deleted one", webhookDeleted(), replay, refusal(fault.NotFound)},
		{"delete", webhookCreated(), remove, event(events.WebhookDeleted{})},
		{"delete again", webhookDeleted(), remove, refusal(fault.NotFound)},
		{"delete a missing one", nil, remove, refusal(fault.NotFound)},
	})
}
