import type { Page } from "@playwright/test";
import { accessible, api, expect, login, test } from "./journey";

/** A configuration of the first template, and where it is. */
async function made(page: Page, name: string): Promise<string> {
	const { templates } = await api(page, "templates?search=Single%20rack");
	const { id } = await api(page, `templates/${templates[0].id}/clone`, { name });
	return id;
}

test("a template becomes a configuration that is edited, validated, compared, cloned and run", async ({ page }) => {
	await page.goto("templates");
	await login(page);
	await page.goto("templates?search=Single");
	await page.getByRole("link", { name: /Single rack/ }).click();
	await expect(page.getByRole("img", { name: /The network: .*8 nic/ })).toBeVisible();
	await page.getByLabel("Name of the configuration").fill("journey rack");
	await page.getByRole("button", { name: "Make a configuration" }).click();
	await expect(page.getByRole("heading", { level: 1, name: "journey rack" })).toBeVisible();

	await page.getByRole("button", { name: "nic", exact: true }).click();
	expect(page.url()).toContain("component=nic");
	await expect(page.getByText("1 Mbps to 10 Tbps")).toBeVisible();
	await page.getByLabel("NetworkInterface UplinkNetworkInterface DataRate", { exact: true }).fill("123456789012345678901234567890");
	await expect(page.getByText("1 change is not saved")).toBeVisible();
	await page.getByRole("button", { name: "Save", exact: true }).click();
	await page.getByRole("button", { name: "Validate" }).click();
	await expect(page.getByText("Invalid.")).toBeVisible();
	// The finding is at its place, too.
	await expect(page.getByRole("row", { name: /DataRate/ }).locator(".finding.error")).toBeVisible();
	await page.getByLabel("NetworkInterface UplinkNetworkInterface DataRate", { exact: true }).fill("200");
	await page.getByRole("button", { name: "Save", exact: true }).click();
	await expect(page.getByText("not saved")).toBeHidden();
	await page.getByRole("button", { name: "Validate" }).click();
	await expect(page.getByText("Valid.", { exact: true })).toBeVisible();

	await page.getByRole("link", { name: "Versions" }).click();
	await page.getByRole("button", { name: "from version 1" }).click();
	await expect(page.getByRole("heading", { name: "From version 1 to version 3" })).toBeVisible();
	await expect(page.locator(".diff li")).toContainText(["200"]);
	await accessible(page);

	await page.getByRole("link", { name: "Run it" }).click();
	await page.getByRole("button", { name: "Run version 3" }).click();
	await expect(page.getByText(/It takes .* of simulated time/)).toBeVisible({ timeout: 60_000 });
	await expect(page.getByRole("link", { name: "Vary it in a study" })).toHaveAttribute("href", /studies\/new\?configuration=config_\w+&version=3&study=journey-rack/);
	await page.goBack();
	await page.getByRole("button", { name: "Clone" }).click();
	await expect(page.getByRole("heading", { level: 1, name: "Copy of journey rack" })).toBeVisible();
	await page.getByRole("button", { name: "Delete" }).click();
	await accessible(page);
	await page.getByRole("button", { name: "Delete it" }).click();
	await expect(page.getByRole("heading", { level: 1, name: "Configurations" })).toBeVisible();
});

test("two tabs change a configuration, and the second chooses member by member", async ({ page, context, refused }) => {
	refused.push("configurations/");
	await page.goto("configurations");
	await login(page);
	const id = await made(page, "two tabs");
	const other = await context.newPage();
	const address = `configurations/${id}?component=nic`;
	await page.goto(address);
	await other.goto(address);
	const delay = /^NetworkInterface TransmissionMedium Delay$/;
	const rate = /^NetworkInterface UplinkNetworkInterface DataRate$/;
	await page.getByLabel(delay).fill("150");
	await page.getByLabel(rate).fill("200");
	await other.getByLabel(delay).fill("250");
	await other.getByRole("button", { name: "leaf", exact: true }).click();
	await other.getByLabel("LoadBalancingMethod").selectOption("spray");
	await other.getByRole("button", { name: "Save", exact: true }).click();
	await expect(other.getByText("not saved")).toBeHidden();

	await page.getByRole("button", { name: "Save", exact: true }).click();
	await expect(page.getByRole("heading", { name: "Two changes at the same time" })).toBeVisible();
	const row = (name: RegExp) => page.getByRole("row", { name });
	await expect(row(/Delay/)).toContainText(["150 ns"]);
	await expect(row(/Delay/)).toContainText("250 ns");
	await expect(row(/Delay/)).toContainText("you both changed it");
	await expect(row(/DataRate/)).toContainText("only you changed it");
	await expect(row(/LoadBalancingMethod/)).toContainText("only they changed it");
	await expect(page.getByRole("button", { name: "Save what is chosen" })).toBeDisabled();
	await accessible(page);
	await page.getByLabel(/^Yours for nic: .*Delay/).check();
	await page.getByRole("button", { name: "Save what is chosen" }).click();
	await expect(page.getByRole("heading", { name: "Two changes at the same time" })).toBeHidden();
	const now = await api(page, `configurations/${id}`);
	const of = (name: string) => now.components.find((one: { name: string }) => one.name === name).typedParameters;
	expect(now.version).toBe(3);
	expect(of("nic").NetworkInterface.TransmissionMedium.Delay.value).toBe(150);
	expect(of("nic").NetworkInterface.UplinkNetworkInterface.DataRate.value).toBe(200);
	expect(of("leaf").LoadBalancingMethod.value).toBe("spray");
	await other.close();
});

test("counts and references are edited, read before they are saved, and found at their place", async ({ page }) => {
	await page.goto("configurations");
	await login(page);
	const id = await made(page, "counts and references");
	await page.goto(`configurations/${id}?component=rack`);
	const changes = page.locator(".diff li");

	// A count beyond the contract is not sent; the network is drawn with one that is within.
	await page.getByLabel("Count of server").fill("1048577");
	await expect(page.getByText("Write a whole number from 1 to")).toBeVisible();
	await expect(page.getByRole("button", { name: "Save", exact: true })).toBeDisabled();
	await page.getByLabel("Count of server").fill("4");
	await page.getByLabel("Group of server").fill("storage");
	await expect(changes).toContainText(["8 × server (server) → 4 × server (server), group storage"]);
	await expect(page.getByRole("img", { name: /The network: .*4 nic/ })).toBeVisible();

	// Another switch, which the rack then names instead of the first.
	await page.getByText("Declare another component").click();
	await page.getByLabel("Model").selectOption("clos-switch-v1");
	await page.getByLabel("Its name in this configuration").fill("nic");
	await expect(page.getByText("A nic of the configuration has this name.")).toBeVisible();
	await page.getByLabel("Its name in this configuration").fill("leaf2");
	await page.getByRole("button", { name: "Declare it" }).click();
	await expect(page.getByText("It is new. Its parameters are the defaults of its model")).toBeVisible();
	await page.getByLabel("NumUpLinks", { exact: true }).fill("-1");
	await expect(page.getByText("Write a whole number from 0.")).toBeVisible();
	await expect(page.getByRole("button", { name: "Save", exact: true })).toBeDisabled();
	await page.getByLabel("NumUpLinks", { exact: true }).fill("12");
	await expect(changes).toContainText([/leaf2: NumUpLinks: 12/]);
	await page.getByRole("button", { name: "rack", exact: true }).click();
	await page.getByLabel("What is held instead of leaf").selectOption("leaf2");
	await accessible(page);

	// What is removed is removed wherever it is named, and can be taken back.
	await page.getByRole("button", { name: "nic", exact: true }).click();
	await page.getByRole("button", { name: "Remove nic", exact: true }).click();
	await expect(changes).toHaveText([/rack: holds server/, /Declaration of leaf2/, /leaf2: NumUpLinks/, /rack: holds leaf/, /server: holds nic.*1 × nic \(nic\)/, /Declaration of nic.*roce-nic-v1/]);
	await page.getByRole("button", { name: "Take back: Declaration of nic" }).click();
	await page.getByRole("button", { name: "Save", exact: true }).click();
	await expect(page.getByText("not saved")).toBeHidden();
	const stored = await api(page, `configurations/${id}?include=all`);
	expect(stored.version).toBe(2);
	const held = (of: { components: object[] }) => of.components.map(({ name, count, group }: any) => [name, count, group]);
	expect(held(stored.containers[0])).toEqual([
		["leaf2", 1, undefined],
		["server", 4, "storage"],
	]);
	expect(stored.components.map((one: any) => one.name)).toEqual(["leaf", "server", "nic", "leaf2"]);
	expect(held(stored.components[1])).toEqual([]);
	expect(stored.components[3].typedParameters.NumUpLinks).toMatchObject({ value: 12, type: "uint" });
	expect(Object.keys(stored.components[3].typedParameters).sort()).toEqual(Object.keys(stored.components[0].typedParameters).sort());

	// A layer wires all of the topology, so two of it are an error, which is at its row.
	await page.getByLabel("Model").selectOption("ethernet-layer-v1");
	await page.getByLabel("Its name in this configuration").fill("wires");
	await page.getByRole("button", { name: "Declare it" }).click();
	await page.getByRole("button", { name: "Topology", exact: true }).click();
	await page.getByLabel("Add to it").selectOption("wires");
	await page.getByRole("button", { name: "Add", exact: true }).click();
	await page.getByLabel("Count of wires").fill("2");
	await page.getByLabel("topologyTiers").selectOption("3");
	await page.getByRole("button", { name: "server", exact: true }).click();
	await page.getByLabel("Add to it").selectOption("nic");
	await page.getByRole("button", { name: "Add", exact: true }).click();
	await expect(changes).toHaveCount(4);
	await page.getByRole("button", { name: "Save", exact: true }).click();
	await expect(page.getByText("not saved")).toBeHidden();
	await page.getByRole("button", { name: "Validate" }).click();
	await expect(page.getByText("Invalid.")).toBeVisible();
	await page.getByRole("button", { name: "Show wires" }).first().click();
	await page.getByRole("button", { name: "Topology", exact: true }).click();
	await expect(page.getByRole("row").filter({ has: page.getByLabel("Count of wires") })).toContainText("set its count to 1");
	await accessible(page);
	await page.getByRole("link", { name: "Versions" }).click();
	await expect(page.locator(".diff li").first()).toBeVisible();
});

test("two tabs change counts and references, and the second chooses", async ({ page, context, refused }) => {
	refused.push("configurations/");
	await page.goto("configurations");
	await login(page);
	const id = await made(page, "two tabs of counts");
	const other = await context.newPage();
	await page.goto(`configurations/${id}?component=rack`);
	await other.goto(`configurations/${id}?component=rack`);
	await page.getByLabel("Count of server").fill("4");
	await page.getByRole("button", { name: "Topology", exact: true }).click();
	await page.getByLabel("Count of rack").fill("2");
	await other.getByLabel("Count of server").fill("16");
	await other.getByRole("button", { name: "Save", exact: true }).click();
	await expect(other.getByText("not saved")).toBeHidden();
	await page.getByRole("button", { name: "Save", exact: true }).click();
	await expect(page.getByRole("heading", { name: "Two changes at the same time" })).toBeVisible();
	const row = (name: RegExp) => page.getByRole("row", { name });
	await expect(row(/rack: holds server/)).toContainText("you both changed it");
	await expect(row(/Topology: holds rack/)).toContainText("only you changed it");
	await accessible(page);
	await page.getByLabel("Theirs for rack: holds server: 16 × server (server)").check();
	await page.getByRole("button", { name: "Save what is chosen" }).click();
	await expect(page.getByRole("heading", { name: "Two changes at the same time" })).toBeHidden();
	const now = await api(page, `configurations/${id}?include=all`);
	expect([now.version, now.containers[0].components[1].count, now.topology.components[0].count]).toEqual([3, 16, 2]);
	await other.close();
});

test("bad days of configurations: markup, right-to-left names, long numbers, and one that is gone", async ({ page, refused }) => {
	refused.push("configurations/");
	await page.goto("configurations");
	await login(page);
	const name = "<img src=x onerror=alert(1)> \u202eשלום";
	const id = await made(page, name);
	await page.goto(`configurations/${id}`);
	await expect(page.getByRole("heading", { level: 1 })).toHaveText(name);
	await page.getByLabel("SimulationParameters RandomSeed").fill("9007199254740991");
	await page.getByLabel("SimulationParameters BeaconReportInterval").fill("0.200000000000000000000000000001");
	await expect(page.getByText("A double has fewer digits: the service stores 0.2.")).toBeVisible();
	await page.getByRole("button", { name: "Save", exact: true }).click();
	await expect(page.getByText("not saved")).toBeHidden();
	const stored = await (await page.request.get(new URL(`/console/api/v1/configurations/${id}`, page.url()).href)).text();
	expect(stored).toContain("9007199254740991");
	await page.reload();
	await expect(page.getByLabel("SimulationParameters BeaconReportInterval")).toHaveValue("0.2");
	await expect(page.getByLabel("SimulationParameters RandomSeed")).toHaveValue("9007199254740991");
	await page.getByLabel("SimulationParameters RandomSeed").fill("99999999999999999999999999999999");
	await page.getByRole("button", { name: "Save", exact: true }).click();
	await expect(page.getByRole("alert")).toContainText("99999999999999999999999999999999");
	await page.getByLabel("SimulationParameters RandomSeed").fill("1.5");
	await expect(page.getByText("Write a whole number from 0.")).toBeVisible();
	await expect(page.getByRole("button", { name: "Save", exact: true })).toBeDisabled();

	// Another tab deletes it while this one has changes.
	await page.request.delete(new URL(`/console/api/v1/configurations/${id}`, page.url()).href);
	await page.getByLabel("SimulationParameters RandomSeed").fill("3");
	await page.getByRole("button", { name: "Save", exact: true }).click();
	await expect(page.getByRole("alert").first()).toContainText("your changes are still here");
	page.on("dialog", (dialog) => dialog.accept());
	await page.goto(`configurations/${id}?view=versions`);
	await expect(page.getByRole("alert")).toContainText("It does not exist, was deleted");
	await accessible(page);
});

test("a user without a workspace reads why the lists have only what is public", async ({ page }) => {
	await page.route("**/console/session", async (route) => {
		const reply = await route.fetch();
		const body = await reply.text();
		return route.fulfill({ response: reply, body: body.replace(/"workspaces":\s*("\*"|\[[^\]]*\])/, '"workspaces":[]') });
	});
	await page.goto("configurations");
	await login(page);
	for (const address of ["configurations", "tracesets", "mapping-files", "upload"]) {
		await page.goto(address);
		await expect(page.getByText("Your login gives access to no workspace")).toBeVisible();
	}
	await accessible(page);
});
