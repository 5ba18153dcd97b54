import { accessible, api, completed, expect, login, run, test } from "./journey";

test("a run shows its result, its fabric, its path, its files and its log", async ({ page }) => {
	await page.goto("");
	await login(page);
	const id = await run(page, "run-page", 64);
	await page.goto(`simulations/${id}`);
	await expect(page.getByText(/It takes .* of simulated time/)).toBeVisible();
	await expect(page.getByText("Ranks", { exact: true })).toBeVisible();

	const views = page.getByRole("navigation", { name: "Views of the simulation" });
	await views.getByRole("link", { name: "Fabric" }).click();
	await expect(page.getByText(/64 network interfaces \(NIC\); .* links/)).toBeVisible();
	await expect(page.locator("[data-frame]")).toBeVisible();
	await page.getByRole("application").hover();
	await expect(page.getByText(/the busiest sends/)).toBeVisible();
	await page.getByRole("application").press("+");
	await expect(page).toHaveURL(/zoom=1\.5/);
	await page.reload();
	await expect(page).toHaveURL(/zoom=1\.5/);

	await views.getByRole("link", { name: "Timeline" }).click();
	await expect(page.getByRole("img", { name: /What 64 rows of ranks did/ })).toBeVisible();
	await page.getByRole("navigation", { name: "Densities of the timeline" }).getByRole("link", { name: "Every span" }).click();
	await expect(page.getByText(/spans in .* rows; 0\sps to/)).toBeVisible();
	const spans = page.getByRole("application", { name: /^Every span/ });
	await spans.hover({ position: { x: 300, y: 5 } });
	await expect(page.getByText(/^rank 0, transferring: .*to rank \d+, .*lasts/)).toBeVisible();
	await spans.press("+");
	await spans.press("PageDown");
	await expect(page).toHaveURL(/zoom=1\.5.*row=30/);
	await page.reload();
	await expect(page.getByText(/spans in .* rows/)).not.toContainText("; 0 ps to");
	await page.getByLabel("First row").selectOption("rank 9");
	await spans.hover({ position: { x: 310, y: 5 } });
	await expect(page.getByText(/^rank 9, /)).toBeVisible();
	await views.getByRole("link", { name: "Critical path" }).click();
	await expect(page.getByText(/The critical path has/)).toBeVisible();
	await views.getByRole("link", { name: "Logs" }).click();
	await expect(page.getByRole("listitem").first()).toBeVisible();

	await views.getByRole("link", { name: "Files" }).click();
	const download = page.waitForEvent("download").catch(() => undefined);
	const opened = page.waitForResponse((response) => response.url().includes("receipt.json") && response.status() === 200);
	await page.getByRole("button", { name: "receipt.json" }).click();
	await opened;
	void download;
});

test("a fabric of thousands of hosts is drawn by tier, by pod, and by host", async ({ page }) => {
	await page.goto("");
	await login(page);
	const { simulationId } = await api(page, "simple/simulations", {
		name: "rungs",
		workload: { ranks: 4096, phases: [{ operationType: "allReduce", algorithm: "recursiveHalvingDoubling", dataSize: 1048576 }] },
		topologyConstraints: { switchRadix: "64x800G", subscriptionRatio: "4:1" },
	});
	await completed(page, `simulations/${simulationId}`, 100_000);
	await page.goto(`simulations/${simulationId}?view=fabric`);
	const status = page.locator("[data-rung]");
	const picture = page.getByRole("application");
	// Four pods in 1,100 pixels, of which the last has no host.
	await expect(status).toHaveAttribute("data-rung", "pod");
	await expect(page.getByText("Drawn by pod")).toBeVisible();
	const { width } = (await picture.boundingBox()) as { width: number };
	await picture.hover({ position: { x: width / 8, y: 180 } });
	await expect(status).toHaveText(/^FSW – RSW of pod 0: 384 links of .*bit\/s together carry [1-9].* up and [1-9]/);
	await picture.hover({ position: { x: (width * 7) / 8, y: 180 } });
	await expect(status).toHaveText(/^FSW – RSW of pod 3: 384 links of .* carry 0.* the busiest 0 %$/);
	await accessible(page);
	for (let i = 0; i < 4; i++) await picture.press("+");
	await expect(status).toHaveAttribute("data-rung", "host");
	await picture.hover({ position: { x: width / 2, y: 22 } });
	await expect(status).toHaveText(/^ssw-\d+: \d+ links; the busiest sends/);
	await picture.press("0");
	await expect(status).toHaveAttribute("data-rung", "pod");
	await page.setViewportSize({ width: 390, height: 844 });
	await expect(status).toHaveAttribute("data-rung", "tier");
	await picture.hover({ position: { x: 100, y: 180 } });
	await expect(status).toHaveText(/^FSW – RSW: 1.536 links of/);
});

test("curl of a page works as it stands, and its SDKs ask the same", async ({ page }) => {
	await page.goto("simulations?status=running");
	await login(page);
	await page.getByText("The same with curl").click();
	await expect(page.locator("details.curl", { hasText: "The same with curl" }).locator("pre")).toContainText("\"$NETSIM\"/'simulations?status=running&limit=100'");
	for (const [language, line] of [
		["Python", 'print(client.list_simulations(status="running", limit=100).page())'],
		["TypeScript", 'console.log(await netsim.api.listSimulations({"query":{"status":"running","limit":100}}));'],
		["Go", 'simulations, err := client.ListSimulations(ctx, &api.ListSimulationsParams{Status: new("running"), Limit: new(int64(100))})'],
	] as const) {
		const summary = `The same in ${language}`;
		await page.getByText(summary).click();
		await expect(page.locator("details.curl", { hasText: summary }).locator("pre")).toContainText(line);
	}
});

test("what does not exist says so and leads on", async ({ page, refused }) => {
	refused.push("sim_00000000000000000000000000");
	await page.goto("simulations/sim_00000000000000000000000000");
	await login(page);
	await expect(page.getByRole("alert")).toContainText("It does not exist, was deleted, or belongs to another account");
	await page.goto("nowhere");
	await expect(page.getByRole("heading", { name: "No such page" })).toBeVisible();
});
