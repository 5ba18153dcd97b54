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

// Nothing of make run parks a stream: it takes a fact that no release writes. So the service's
// replies are written here, in the form of the contract, and the requests are looked at.
test("parked facts are masked until asked for, and retried by stream", async ({ page }) => {
	const stream = "workspace_01kahcfv4ge3brkm7f0v3x2m8p";
	const fact = { stream, sequence: 3, type: "netsim.workspace.painted.v1", family: "workspaces", partition: 3, offset: 118, reason: "unknown event type netsim.workspace.painted.v1" };
	const operation = {
		id: "operation_01kahcfv4ge3brkm7s0v3x2m8p",
		operator: "user_01kahcfv4ge3brkm7s0v3x2m8q",
		command: "streams retry",
		arguments: [`stream=${stream}`],
		release: "v1.4.0",
		outcome: "succeeded",
		beganAt: "2026-11-21T08:30:00.125Z",
		endedAt: "2026-11-21T08:30:00.250Z",
	};
	let parked = [fact, { ...fact, sequence: 4, offset: 119 }];
	let looks = 0;
	const retries: (string | undefined)[] = [];
	await page.route(/operations\/parked-facts(\?|$)/, (route) => route.fulfill({ json: { items: parked, total: parked.length } }));
	await page.route(/operations\/parked-facts\/[^/]+\/3$/, (route) => {
		looks++;
		return route.fulfill({ json: { ...fact, data: '{"colour":"green"}' } });
	});
	await page.route(/operations\/parked-facts\/[^/]+\/retry$/, (route) => {
		retries.push(route.request().headers()["idempotency-key"]);
		parked = [];
		return route.fulfill({ json: { operation, items: [], total: 0 } });
	});
	await page.goto("machine?view=parked");
	await login(page, "operator");
	await expect(page.getByText(/A look at it is recorded in the log/)).toBeVisible();
	await expect(page.getByText(/unknown event type/).first()).toBeVisible();
	await expect(page.getByText("green")).toBeHidden();
	expect(looks).toBe(0);
	await accessible(page);
	await page.getByRole("button", { name: `Show the data of fact 3 of ${stream}` }).click();
	await expect(page.getByText('{"colour":"green"}')).toBeVisible();
	expect(looks).toBe(1);
	await page.getByRole("button", { name: "Hide" }).click();
	await expect(page.getByText("green")).toBeHidden();
	await page.getByRole("button", { name: `Apply them again: the parked facts of ${stream}` }).click();
	await expect(page.getByText("Nothing is parked")).toBeVisible();
	expect(retries).toHaveLength(1);
	expect(retries[0]).toBeTruthy();
});

test("a dead letter is shown and retried by its parts", async ({ page }) => {
	const letter = {
		id: "workspace:workspaces/3@118",
		handler: "workspace",
		family: "workspaces",
		partition: 3,
		offset: 118,
		stream: "workspace_01kahcfv4ge3brkm7f0v3x2m8p",
		type: "netsim.workspace.deletion_requested.v1",
		eventId: "019aa2b1-2b95-7690-8215-3fe131648bf2",
		reason: 'relation "mapping_files" does not exist',
		since: "2026-11-21T08:30:00.125Z",
	};
	const asked: string[] = [];
	await page.route(/operations\/dead-letters/, (route) => {
		const { pathname } = new URL(route.request().url());
		const path = pathname.split("/operations/").at(-1) ?? "";
		if (path === "dead-letters") return route.fulfill({ json: { items: [letter], total: 1 } });
		asked.push(`${route.request().method()} ${path}`);
		const operation = {
			id: "operation_01kahcfv4ge3brkm7s0v3x2m8p",
			operator: "user_x",
			command: "reactions retry",
			arguments: [],
			release: "",
			outcome: "failed",
			beganAt: letter.since,
			endedAt: letter.since,
		};
		return route.fulfill({ json: path.endsWith("/retry") ? { operation, items: [{ ...letter, error: letter.reason }], total: 1 } : { ...letter, data: "{}" } });
	});
	await page.goto("machine?view=letters");
	await login(page, "operator");
	await page.getByRole("button", { name: `Show the data of ${letter.id}` }).click();
	await page.getByRole("button", { name: `Retry ${letter.id}` }).click();
	await expect(page.getByText("1 still open.")).toBeVisible();
	expect(asked).toEqual(["GET dead-letters/workspace/workspaces/3/118", "POST dead-letters/workspace/workspaces/3/118/retry"]);
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
