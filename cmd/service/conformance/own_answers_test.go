package conformance_test

import (
	"strings"
	"testing"
)

const (
	byEdits      = "TestConfigurationEditsAtTheSameTime, in cmd/service, checks that it shows the version that the edit made"
	byWebhooks   = "TestTheAnswerToAWebhookWriteIsItsOwn, in writeapi, checks it"
	byWorkspaces = "TestTheAnswerToAWorkspaceWriteIsItsOwn, in writeapi, checks it"
	fromRequest  = "it depends on the request alone"
	fromVersion  = "it shows the version that was read before the command, and has its tag"
	fromAct      = "the act never changes once it has ended; what is left is that of now"
	final        = "it shows a final state"
	fromEvent    = "its status is that after the event; the numbers of points are those of now"
	extracted    = "it shows the traceset with the metadata extracted so far; clients poll for the rest"
)

// owned lists every write whose reply has a representation or an ETag, with the reason
// why the reply cannot show a later change by another writer.
var owned = map[string]string{
	"CreateWorkspace": byWorkspaces, "UpdateWorkspace": byWorkspaces, "SetLegacyProject": byWorkspaces, "DeleteWorkspace": fromRequest,

	"CreateWebhook": byWebhooks, "UpdateWebhook": byWebhooks, "RotateWebhookSecret": byWebhooks, "PauseWebhook": byWebhooks,
	"ResumeWebhook": byWebhooks, "ReplayWebhook": byWebhooks, "DeleteWebhook": fromRequest,

	"CreateConfiguration": byEdits, "CloneConfiguration": byEdits, "CloneTemplate": byEdits, "UpdateConfiguration": byEdits,
	"AddApplication": byEdits, "RemoveApplication": byEdits, "PatchApplicationParameters": byEdits,
	"AddComponent": byEdits, "RemoveComponent": byEdits, "PatchComponentParameters": byEdits,
	"AddServerReference": byEdits, "ChangeServerReference": byEdits, "RemoveServerReference": byEdits,
	"AddContainerReference": byEdits, "ChangeContainerReference": byEdits, "RemoveContainerReference": byEdits,
	"AddTopologyReference": byEdits, "ChangeTopologyReference": byEdits, "RemoveTopologyReference": byEdits,
	"UpdateDistribution": byEdits, "PatchLinkParameters": byEdits, "PatchGlobalParameters": byEdits,
	"AttachTraceset": byEdits, "DetachTraceset": byEdits, "AttachMappingFile": byEdits, "DetachMappingFile": byEdits,
	"ValidateConfiguration": fromVersion,
	"CreateTemplate":        "TestATemplateIsAnsweredAsItWasMade, in writeapi, checks it",

	"RetryParkedStream": fromAct, "RetryDeadLetter": fromAct, "RetryDeadLetters": fromAct, "TerminateRun": fromAct,

	"SubmitSimple": fromRequest, "StartSimulation": fromRequest, "DeleteSimulation": fromRequest,
	"TerminateSimulation": final,
	"StartStudy":          fromRequest, "TerminateStudy": fromEvent, "ResumeStudy": fromEvent, "DeleteStudy": fromRequest,

	"UploadTraceset": extracted, "CompleteTracesetUpload": extracted,
	"PromoteTraceset":    "TestTheAnswerToAPromotionIsItsOwn, in writeapi, checks it",
	"OpenTracesetUpload": fromRequest, "OpenMappingFileUpload": fromRequest,
	"CompleteMappingFileUpload": "a mapping file never changes",
}

// TestEveryAnswerIsTheWritersOwn: owned lists exactly the writes whose reply has a
// representation.
func TestEveryAnswerIsTheWritersOwn(t *testing.T) {
	t.Parallel()
	left := map[string]bool{}
	for id := range owned {
		left[id] = true
	}
	for _, op := range operations(t) {
		if !op.writes() || !op.represents {
			continue
		}
		if owned[op.id] == "" {
			t.Errorf("%s replies with a representation; add to owned why it cannot show a later writer's change", op.id)
		}
		delete(left, op.id)
	}
	for id := range left {
		t.Errorf("%s is in owned but does not reply with a representation", id)
	}
}

// TestEveryWriteTakesAKeyOrSaysThatItDoesNot: a client can repeat a write under an
// idempotency key, or the operation's description says that there is no key.
func TestEveryWriteTakesAKeyOrSaysThatItDoesNot(t *testing.T) {
	t.Parallel()
	for _, op := range operations(t) {
		if op.writes() && op.key() == nil && !strings.Contains(op.description, "takes no\n`Idempotency-Key`") {
			t.Errorf("%s takes no Idempotency-Key, but its description does not say so", op.id)
		}
	}
}
