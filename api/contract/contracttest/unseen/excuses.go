package main

import (
	"slices"

	"netsim/api/contract"
)

// excuse is why no test produces an answer that is documented.
type excuse struct {
	status     int
	operations []string // nil for all
	reason     string
}

func (e excuse) covers(op *contract.Operation, status int) bool {
	return status == e.status && (e.operations == nil || slices.Contains(e.operations, op.ID))
}

// excuses is the one list of them.
func excuses() []excuse {
	return []excuse{
		{500, nil, "a mistake of ours, which no test makes on purpose; how it is told is tested in infra/web"},
		{504, []string{
			"ListChartDefinitions", "ListComponents", "GetComponent", "ListModels", "GetModel", "ListModelVersions",
		}, "answered from memory, which takes no time"},
		{404, []string{"ListChartDefinitions"}, "the charts are always served"},
		{422, []string{
			"DeleteConfiguration", "DetachTraceset", "DetachMappingFile", "ValidateConfiguration", "DeleteSimulation", "TerminateSimulation",
			"DeleteTraceset", "DeleteMappingFile", "DeleteTemplate",
			"RemoveApplication", "RemoveComponent", "RemoveServerReference", "RemoveContainerReference", "RemoveTopologyReference",
		}, "nothing in the request can differ under the same key"},
		{409, []string{
			"DeleteConfiguration", "ValidateConfiguration", "CloneConfiguration", "AddApplication",
			"PatchApplicationParameters", "AddComponent", "RemoveComponent", "PatchComponentParameters",
			"AddServerReference", "ChangeServerReference", "RemoveServerReference",
			"AddContainerReference", "ChangeContainerReference", "RemoveContainerReference",
			"AddTopologyReference", "ChangeTopologyReference", "RemoveTopologyReference",
			"UpdateDistribution", "PatchLinkParameters", "PatchGlobalParameters", "DetachTraceset", "DetachMappingFile", "UpdateWorkspace",
		}, "too many lost races with other processes; commands/handle/handle_test.go makes them"},
	}
}
