package main

import (
	"slices"

	"netsim/api/contract"
)

// excuse gives the reason why no test has to produce a documented response.
type excuse struct {
	status     int
	operations []string // operation IDs; nil means all operations
	reason     string
}

func (e excuse) covers(op *contract.Operation, status int) bool {
	return status == e.status && (e.operations == nil || slices.Contains(e.operations, op.ID))
}

func excuses() []excuse {
	return []excuse{
		{500, nil, "a bug in the service; infra/web tests the response"},
		{504, []string{
			"ListChartDefinitions", "ListComponents", "GetComponent", "ListModels", "GetModel", "ListModelVersions",
		}, "answered from memory, so it does not time out"},
		{404, []string{"ListChartDefinitions"}, "the charts are always served"},
		{422, []string{"GetBundle"}, "a period with more than 100,000 costs; audit/bundle_stream_test.go and readapi/billing_audit_test.go make it"},
		{422, []string{"GetFocusDataset", "GetFocusDatasetParquet"}, "days with more than 100,000 costs; readapi/billing_focus_test.go makes it with a lower bound"},
		{504, []string{"GetBundle"}, "a bundle has ten minutes to begin; infra/web/streams_test.go makes one that begins too late"},
		{422, []string{
			"DeleteConfiguration", "DetachTraceset", "DetachMappingFile", "ValidateConfiguration", "DeleteSimulation", "TerminateSimulation",
			"DeleteTraceset", "DeleteMappingFile", "DeleteTemplate", "DeleteWorkspace", "TerminateStudy", "ResumeStudy", "DeleteStudy",
			"RemoveApplication", "RemoveComponent", "RemoveServerReference", "RemoveContainerReference", "RemoveTopologyReference",
			"RetryParkedStream", "RetryDeadLetter", "RetryDeadLetters", "DeleteWebhook", "PauseWebhook", "ResumeWebhook",
		}, "nothing in the request can differ under the same key"},
		{409, []string{
			"DeleteConfiguration", "ValidateConfiguration", "CloneConfiguration", "AddApplication",
			"PatchApplicationParameters", "AddComponent", "RemoveComponent", "PatchComponentParameters",
			"AddServerReference", "ChangeServerReference", "RemoveServerReference",
			"AddContainerReference", "ChangeContainerReference", "RemoveContainerReference",
			"AddTopologyReference", "ChangeTopologyReference", "RemoveTopologyReference",
			"UpdateDistribution", "PatchLinkParameters", "PatchGlobalParameters", "DetachTraceset", "DetachMappingFile", "UpdateWorkspace",
			"RetryParkedStream", "RetryDeadLetter", "RetryDeadLetters",
			"UpdateWebhook", "DeleteWebhook", "RotateWebhookSecret", "ResumeWebhook", "ReplayWebhook",
		}, "too many lost races with other processes; commands/handle/handle_test.go makes them"},
	}
}
