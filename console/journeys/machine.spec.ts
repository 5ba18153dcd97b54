import { accessible, api, expect, login, logout, run, test } from "./journey";

test("an operator sees the deployment, and what was done to it", async ({ page }) => {
	await page.goto("machine");
	await login(page, "operator");
	await expect(page.getByRole("region", { name: /^Read model/ }).first()).toContainText(/Projected by/);
	await expect(page.getByRole("table").last()).toContainText("simulations");
	const views = page.getByRole("navigation", { name: "Views of the machine room" });
	await views.getByRole("link", { name: "Parked facts" }).click();
	await expect(page.getByText("Nothing is parked")).toBeVisible();
	await views.getByRole("link", { name: "Reactions" }).click();
	await expect(page.getByText("There are none")).toBeVisible();
	await page.getByText(/handlers by partition/).click();
	await expect(page.getByRole("region", { name: "Handlers" })).toContainText("workspace");
	await run(page, "machine-run", 8);
	await views.getByRole("link", { name: "Jobs and runs" }).click();
	await expect(page.getByText(/of all accounts|None, of any account/)).toBeVisible();
	await views.getByRole("link", { name: "Deployment" }).click();
	await expect(page.getByText(/The deployment is at level/)).toBeVisible();
	await expect(page.getByText("Records that it covers")).toBeVisible();
	await views.getByRole("link", { name: "What operators did" }).click();
	await expect(page.getByText("Operators have changed nothing yet").or(page.getByRole("region", { name: "What operators did" }))).toBeVisible();
});

test("an operator terminates a run of another account, and the log keeps why", async ({ page }) => {
	await page.goto("simulations"); // it asks again while the run is there, up to the logout
	await login(page);
	const phase = { operationType: "allReduce", algorithm: "ring", dataSize: 67108864 };
	const { simulationId } = await api(page, "simple/simulations", { name: "takes-the-worker", workload: { ranks: 4096, phases: Array(16).fill(phase) } });
	await expect.poll(async () => (await api(page, `simulations/${simulationId}`)).status, { timeout: 60_000 }).toBe("running");
	await logout(page);
	await page.goto("machine?view=work");
	await login(page, "operator");
	await page.getByRole("button", { name: `Terminate ${simulationId}` }).click();
	const dialog = page.getByRole("dialog");
	await expect(dialog.getByRole("button", { name: "Terminate it" })).toBeDisabled();
	await dialog.getByLabel(/^Reason/).fill("takes the worker of others");
	await accessible(page);
	await dialog.getByRole("button", { name: "Terminate it" }).click();
	await expect(page.getByRole("button", { name: `Terminate ${simulationId}` })).toHaveCount(0);
	await page.goto("machine?view=acts");
	const act = page.getByRole("row").filter({ hasText: simulationId });
	await expect(act).toContainText("takes the worker of others");
	await expect(act).toContainText("succeeded");
});

test("without the role the page says what it needs, and nothing leads to it", async ({ page }) => {
	await page.goto("machine");
	await login(page);
	await expect(page.getByText(/for people with the role operator/)).toBeVisible();
	await expect(page.getByRole("link", { name: "Machine room" })).toHaveCount(0);
});

test("on a phone the ids of what operators did are whole, and a tap copies them", async ({ page, context }) => {
	await context.grantPermissions(["clipboard-read", "clipboard-write"]);
	await page.setViewportSize({ width: 360, height: 740 });
	const act = {
		id: "operation_01kahcfv4ge3brkm7s0v3x2m8p",
		operator: "user_01kahcfv4ge3brkm7s0v3x2m8q",
		command: "runs terminate",
		arguments: ["simulation=sim_01kahcfv4ge3brkm7dy5s5h2k3", "reason=takes all workers"],
		release: "v1.4.0",
		outcome: "succeeded",
		beganAt: "2026-11-21T08:30:00.125Z",
		endedAt: "2026-11-21T08:30:00.250Z",
	};
	await page.route(/operations\/operator-acts|operations\/acts/, (route) => route.fulfill({ json: { items: [act], total: 1 } }));
	await page.goto("machine?view=acts");
	await login(page, "operator");
	await expect(page.getByText("reason=takes all workers")).toBeVisible();
	for (const id of [act.id, act.operator, "sim_01kahcfv4ge3brkm7dy5s5h2k3"]) {
		const shown = page.getByRole("button", { name: id });
		const box = await shown.boundingBox();
		expect(box && box.x + box.width, id).toBeLessThanOrEqual(360);
		expect(box?.height, id).toBeLessThan(40); // one line
		await shown.click();
		expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(id);
		await expect(page.getByRole("status").filter({ hasText: "copied" })).toHaveCount(1);
	}
	await accessible(page);
});
