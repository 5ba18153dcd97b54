import { expect, test } from "vitest";
import { byTiers, namesTier, tierName } from "./tiers";

test("names of tiers are found in texts, and have words", () => {
	expect(byTiers("links rsw ul, then NIC")).toEqual(["links ", "rsw", " ul, then ", "NIC", ""]);
	expect(byTiers("nothing of it: rsws, FSWX, the entity nic")).toHaveLength(1);
	expect(["rsw", "FSW", "SSW", "NIC", "tier 7"].map((name) => tierName(name))).toEqual(["rack switch", "fabric switch", "spine switch", "network interface", "tier 7"]);
	expect([tierName("SSW", 1), tierName("SSW", 8), tierName("tier 7", 8)]).toEqual(["spine switch", "spine switches", "tier 7"]);
});

test("only tiers of switches need an explanation", () => {
	expect(namesTier("limited by links nic ul")).toBe(false);
	expect(namesTier("limited by links rsw dl")).toBe(true);
	expect(namesTier("64 NIC")).toBe(false);
	expect(namesTier("none")).toBe(false);
});
