package commands_test

import (
	"testing"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
)

func TestStudies(t *testing.T) {
	t.Parallel()
	started := events.StudyStarted{AccountID: "acct", WorkspaceID: "workspace_1", Name: "study", Points: 3}
	all := events.StudyAdvanced{To: 3}
	two := events.StudyAdvanced{To: 2, Shared: []events.SharedPoint{{Point: 1, SimulationID: "sim_1"}}}
	stopped := events.StudyTerminated{Reason: "request"}
	running := given(started)
	terminated := and(running, stopped)
	completed := and(running, all, events.StudyCompleted{Points: 3})
	deleted := and(completed, events.StudyDeleted{Reason: "request"})
	start, complete := commands.StartStudy{Started: started}, commands.CompleteStudy{}
	terminate, resume := commands.TerminateStudy{ID: "study_1", Reason: "request"}, commands.ResumeStudy{ID: "study_1"}
	remove := commands.DeleteStudy{ID: "study_1", Reason: "request"}
	cascade := commands.DeleteStudy{ID: "study_1", Reason: commands.ReasonWorkspace}
	check(t, []example[commands.Study]{
		{"start", nil, start, event(started)},
		{"start again", running, start, refusal(fault.Conflict)},
		{"advance", running, commands.AdvanceStudy{From: 0, Advanced: two}, event(two)},
		{"advance to the end", and(running, two), commands.AdvanceStudy{From: 2, Advanced: all}, event(all)},
		{"another worker was first", and(running, two), commands.AdvanceStudy{From: 0, Advanced: two}, nothing()},
		{"advance beyond the end", running, commands.AdvanceStudy{From: 0, Advanced: events.StudyAdvanced{To: 4}}, nothing()},
		{"advance by nothing", and(running, two), commands.AdvanceStudy{From: 2, Advanced: two}, nothing()},
		{"advance a terminated study", terminated, commands.AdvanceStudy{From: 0, Advanced: two}, nothing()},
		{"complete", and(running, all), complete, event(events.StudyCompleted{Points: 3})},
		{"complete while points wait", and(running, two), complete, nothing()},
		{"complete again", completed, complete, nothing()},
		{"terminate", running, terminate, event(stopped)},
		{"terminate again", terminated, terminate, refusal(fault.Conflict)},
		{"terminate a completed study", completed, terminate, refusal(fault.Conflict)},
		{"terminate nothing", nil, terminate, refusal(fault.NotFound)},
		{"resume", terminated, resume, event(events.StudyResumed{Round: 1})},
		{"resume for the second time", and(terminated, events.StudyResumed{Round: 1}, stopped), resume, event(events.StudyResumed{Round: 2})},
		{"resume a running study", running, resume, refusal(fault.Conflict)},
		{"resume a completed study", completed, resume, refusal(fault.Conflict)},
		{"resume nothing", nil, resume, refusal(fault.NotFound)},
		{"delete", completed, remove, event(events.StudyDeleted{Reason: "request"})},
		{"delete a terminated study", terminated, remove, event(events.StudyDeleted{Reason: "request"})},
		{"delete a running study", running, remove, refusal(fault.Conflict)},
		{"delete a running study with its workspace", running, cascade, event(events.StudyDeleted{Reason: "workspace"})},
		{"delete again", deleted, remove, refusal(fault.NotFound)},
		{"resume a deleted study", deleted, resume, refusal(fault.NotFound)},
	})
}
