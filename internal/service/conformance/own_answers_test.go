package conformance_test

import (
	"strings"
	"testing"
)

const (
	byEdits      = "TestConfigurationEditsAtTheSameTime, in internal/service, holds it to the version that the edit made"
	byWorkspaces = "TestTheAnswerToAWorkspaceWriteIsItsOwn, in writeapi"
	fromRequest  = "it is made of the request alone"
	fromVersion  = "it is of the version that was looked at before the command, whose tag it has"
	final        = "the state that it shows is the last one of its kind"
	extracted    = "it is the traceset with what has been found in its files so far, for which a client polls"
)

// owned says of every write that answers with a representation, or with a tag,
// why that cannot be what another writer made of it since.
var owned = map[string]string{
	"CreateWorkspace": byWorkspaces, "UpdateWorkspace": byWorkspaces, "SetLegacyProject": byWorkspaces, "DeleteWorkspace": fromRequest,

	"CreateConfiguration": byEdits, "CloneConfiguration": byEdits, "CloneTemplate": byEdits, "UpdateConfiguration": byEdits,
	"AddApplication": byEdits, "RemoveApplication": byEdits, "PatchApplicationParameters": byEdits,
	"AddComponent": byEdits, "RemoveComponent": byEdits, "PatchComponentParameters": byEdits,
	"AddServerReference": byEdits, "ChangeServerReference": byEdits, "RemoveServerReference": byEdits,
	"AddContainerReference": byEdits, "ChangeContainerReference": byEdits, "RemoveContainerReference": byEdits,
	"AddTopologyReference": byEdits, "ChangeTopologyReference": byEdits, "RemoveTopologyReference": byEdits,
	"UpdateDistribution": byEdits, "PatchLinkParameters": byEdits, "PatchGlobalParameters": byEdits,
	"AttachTraceset": byEdits, "DetachTraceset": byEdits, "AttachMappingFile": byEdits, "DetachMappingFile": byEdits,
	"ValidateConfiguration": fromVersion,
	"CreateTemplate":        "TestATemplateIsAnsweredAsItWasMade, in writeapi",

	"SubmitSimple": fromRequest, "StartSimulation": fromRequest, "DeleteSimulation": fromRequest,
	"TerminateSimulation": final,

	"UploadTraceset": extracted, "CompleteTracesetUpload": extracted,
	"PromoteTraceset":    "TestTheAnswerToAPromotionIsItsOwn, in writeapi",
	"OpenTracesetUpload": fromRequest, "OpenMappingFileUpload": fromRequest,
	"CompleteMappingFileUpload": "a mapping file never changes",
}

// TestEveryAnswerIsTheWritersOwn: the list above is complete, and names no
// operation that is not there.
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
			t.Errorf("%s answers with a representation; say in owned why it cannot be a later writer's", op.id)
		}
		delete(left, op.id)
	}
	for id := range left {
		t.Errorf("%s is in owned and answers with no representation", id)
	}
}

// TestEveryWriteTakesAKeyOrSaysThatItDoesNot: what a client may have to repeat,
// because it got no answer, it can name.
func TestEveryWriteTakesAKeyOrSaysThatItDoesNot(t *testing.T) {
	t.Parallel()
	for _, op := range operations(t) {
		if op.writes() && op.key() == nil && !strings.Contains(op.description, "takes no\n`Idempotency-Key`") {
			t.Errorf("%s takes no Idempotency-Key, and its description does not say so", op.id)
		}
	}
}
