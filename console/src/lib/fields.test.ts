import { expect, test } from "vitest";
import { fieldLabel, offered } from "./fields";

test("fields have words", () => {
	expect(fieldLabel("topologyConstraints.subscriptionRatio")).toBe("Subscription");
	expect(fieldLabel("workload.phases[1].dataSize")).toBe("Size of phase 2");
	expect(fieldLabel("nic.NetworkInterface.Delay")).toBe("nic.NetworkInterface.Delay");
	expect(fieldLabel("components[nic].typedParameters.Transport.MSS.value")).toBe("nic: Transport › MSS");
	expect(fieldLabel("applications[0].typedParameters.LogicalGroupId.value")).toBe("0: LogicalGroupId");
	expect(fieldLabel("globalParameters.SimulationParameters.RandomSeed.value")).toBe("Global: SimulationParameters › RandomSeed");
	expect(fieldLabel("components[nic].typedParameters.Transport.MSS.unit")).toBe("components[nic].typedParameters.Transport.MSS.unit");
});

test("what is offered has words, and values for each phase", () => {
	expect(offered(2)["workload.phases[1].dataSize"]).toBe("1 MiB, 16 MiB");
	for (const field of Object.keys(offered(3))) expect(fieldLabel(field)).not.toBe(field);
});
