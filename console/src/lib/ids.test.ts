import { expect, test } from "vitest";
import { byIds } from "./ids";

const sim = "sim_01kahcfv4ge3brkm7dy5s5h2k3";

test("ids are found wherever they stand, and nothing else is one", () => {
	expect(byIds(sim)).toEqual(["", sim, ""]);
	expect(byIds(`simulation=${sim}, reason=it`)).toEqual(["simulation=", sim, ", reason=it"]);
	expect(byIds("event=019aa2b1-2b95-7690-8215-3fe131648bf2")).toEqual(["event=", "019aa2b1-2b95-7690-8215-3fe131648bf2", ""]);
	expect(byIds("workspace_01kahcfv4ge3brkm7f0v3x2m8p user_01kahcfv4ge3brkm7s0v3x2m8q")).toHaveLength(5);
	for (const text of ["", "all=true", "letter=workspace:workspaces/3@118", `${sim}x`, "sim_91kahcfv4ge3brkm7dy5s5h2k3", "sim_01KAHCFV4GE3BRKM7DY5S5H2K3"]) expect(byIds(text), text).toEqual([text]);
});
