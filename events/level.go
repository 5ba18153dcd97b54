package events

import "sync"

// The levels of the log's format. A level says which event types, and which forms of
// records, checkpoints, cursors and tokens, the processes of a deployment may write. A
// release reads every level up to Level. It writes the forms of the level that the
// deployment's operator has raised, because processes of the previous release may still
// read what it writes. A new deployment begins at the level of its release, and an event of a
// type of a later level raises a level that was lost. docs/upgrading.md describes an upgrade.
//
// Level 1 is that of all releases that do not know of levels. From level 2 on, they are
// refused.
const (
	FirstLevel = 1
	Level      = 2
)

// typeLevels has the level of every event type that came after level 1. An event of such a
// type is not written below its level: a release that does not know the type would park
// its stream. A move of the log is recorded at any level, and so raises it, but only while
// no such release runs: they refuse a log that was moved.
var typeLevels = sync.OnceValue(func() map[string]int {
	return map[string]int{
		LogMoved{}.EventType():          2,
		OperationBegun{}.EventType():    2,
		OperationEnded{}.EventType():    2,
		SimulationYielded{}.EventType(): 2,
		SimulationResumed{}.EventType(): 2,
		CreditHoldChanged{}.EventType(): 2,
		StudyStarted{}.EventType():      2,
		StudyAdvanced{}.EventType():     2,
		StudyCompleted{}.EventType():    2,
		StudyTerminated{}.EventType():   2,
		StudyResumed{}.EventType():      2,
		StudyDeleted{}.EventType():      2,

		WebhookCreated{}.EventType():       2,
		WebhookUpdated{}.EventType():       2,
		WebhookSecretRotated{}.EventType(): 2,
		WebhookPaused{}.EventType():        2,
		WebhookResumed{}.EventType():       2,
		WebhookDisabled{}.EventType():      2,
		WebhookReplayed{}.EventType():      2,
		WebhookDeleted{}.EventType():       2,
	}
})

// LevelOf returns the level from which on events of a type may be written.
func LevelOf(eventType string) int {
	if level, later := typeLevels()[eventType]; later {
		return level
	}
	return FirstLevel
}
