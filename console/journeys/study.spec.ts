import { readFileSync } from "node:fs";
import { accessible, api, completed, expect, login, logout, test } from "./journey";

test("points of a study arrive, and the dominated ones are grey", async ({ page }) => {
	await page.goto("studies");
	await login(page);
	const study = await api(page, "studies", {
		name: "oversubscription",
		base: { simple: { workload: { ranks: 256, phases: [{ operationType: "allToAll", dataSize: 4194304 }] }, topologyConstraints: { subscriptionRatio: "1:1" } } },
		axes: [{ field: "topologyConstraints.subscriptionRatio", values: ["1:1", "2:1", "4:1"] }],
	});
	await page.goto("studies");
	await page.getByRole("link", { name: "oversubscription" }).first().click();
	await expect(page).toHaveURL(new RegExp(study.id));
	await expect(page.locator(".headline .status")).toHaveText("completed", { timeout: 60_000 });
	const points = page.locator(".pareto circle");
	await expect(points).toHaveCount(3);
	await points.first().focus();
	await points.first().press("Enter");
	await expect(page).toHaveURL(/point=\d/);
	await expect(page.getByRole("figure")).toContainText(/Point \d:/);
	await expect(page.getByRole("table", { name: "Points" }).getByRole("row")).toHaveCount(4);
});

test("a study whose axis changes nothing says so, with the reason, and the form begins with one that does", async ({ page }) => {
	await page.goto("studies/new");
	await login(page);
	const base = { simple: { workload: { ranks: 64, phases: [{ operationType: "allReduce", dataSize: 1048576 }] } } };
	const study = await api(page, "studies", { name: "nothing", base, axes: [{ field: "topologyConstraints.subscriptionRatio", values: ["1:1", "2:1"] }] });
	await completed(page, `studies/${study.id}`);
	await page.getByRole("button", { name: "Start the study" }).click();
	await expect(page.locator(".headline .status")).toHaveText("completed", { timeout: 60_000 });
	const times = page.getByRole("table", { name: "Points" }).getByRole("cell", { name: "µs" });
	await expect(times).toHaveCount(3);
	expect(new Set(await times.allTextContents()).size).toBe(3);
	await expect(page.getByText("does not change the time")).toHaveCount(0);
	await page.goto(`studies/${study.id}`);
	await expect(page.getByText("Subscription does not change the time: neither the times nor the prices of the 2 completed points depend on it.")).toBeVisible();
	await expect(page.getByRole("listitem").filter({ hasText: "Subscription, time" })).toContainText("unchanged");
});

test("a study of two axes is read as a map, by workload, and taken away as a table", async ({ page }) => {
	await page.goto("studies");
	await login(page);
	const ratio = "topologyConstraints.subscriptionRatio";
	const size = "workload.phases[0].dataSize";
	const study = await api(page, "studies", {
		name: "two-axes",
		base: { simple: { workload: { ranks: 256, phases: [{ operationType: "allToAll", dataSize: 4194304 }] } } },
		axes: [
			{ field: ratio, values: ["1:1", "4:1"] },
			{ field: size, values: [1048576, 4194304] },
		],
	});
	await completed(page, `studies/${study.id}`);
	await page.goto(`studies/${study.id}`);
	// The plot is of one workload, the map of both.
	await expect(page.locator(".pareto circle")).toHaveCount(2);
	const map = page.getByRole("region", { name: "Heat map" });
	await expect(map.getByRole("button")).toHaveCount(4);
	await page.getByLabel("Workload of the plot").selectOption({ label: "Size of phase 1 4 MiB" });
	await expect(page).toHaveURL(/workload=1/);
	await map
		.getByRole("row", { name: /^4.MiB/ })
		.getByRole("button")
		.last()
		.click();
	await expect(page).toHaveURL(/point=3/);
	await expect(page.getByRole("figure")).toContainText("Point 3: Subscription 4:1, Size of phase 1 4 MiB");
	await page.getByLabel("Across").selectOption(size);
	await page.getByLabel("Shows").selectOption("Price of the fabric");
	await expect(map.getByRole("columnheader")).toHaveText(["1 MiB", "4 MiB"]);
	await expect(map.getByRole("rowheader")).toHaveText(["1:1", "4:1"]);
	await page.reload();
	await expect(map.getByRole("columnheader")).toHaveText(["1 MiB", "4 MiB"]);
	await expect(page.getByRole("list").filter({ hasText: "Subscription, time" })).toContainText(/× \d/);
	const [table] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "CSV" }).click()]);
	const lines = readFileSync(await table.path(), "utf8")
		.trim()
		.split("\n");
	expect(lines).toHaveLength(5);
	expect(lines[0]).toContain(`point,${ratio},${size}`);
});

test("a study is terminated, resumed and deleted from its page", async ({ page, refused }) => {
	await page.goto("studies");
	await login(page);
	const phase = { operationType: "allReduce", algorithm: "ring", dataSize: 67108864 };
	const study = await api(page, "studies", {
		name: "to-be-stopped",
		base: { simple: { workload: { ranks: 4096, phases: Array(16).fill(phase) } } },
		axes: [{ field: "topologyConstraints.subscriptionRatio", values: ["1:1", "2:1", "4:1"] }],
	});
	await page.goto(`studies/${study.id}`);
	const status = page.locator(".headline .status");
	const act = (name: string) => page.getByRole("main").getByRole("button", { name, exact: true });
	await expect(status).toHaveText("running");
	await expect(act("Delete")).toBeDisabled();
	await act("Terminate").click();
	await act("Keep it").click();
	expect((await api(page, `studies/${study.id}`)).status).toBe("running");
	await act("Terminate").click();
	await accessible(page);
	await act("Terminate it").click();
	await expect(status).toHaveText("terminated");
	await expect(act("Terminate")).toHaveCount(0);
	await expect(act("Resume")).toBeEnabled(); // once its runs have stopped

	// A refusal is shown, and the next attempt goes through.
	refused.push("/resume");
	const message = "runs of the study have not stopped yet";
	await page.route(/\/resume$/, (route) => route.fulfill({ status: 409, json: { error: { code: "CONFLICT", message } } }), { times: 1 });
	await act("Resume").click();
	await expect(page.getByRole("alert")).toContainText(message);
	await act("Resume").click();
	await expect(status).toHaveText("running");
	await expect(page.getByRole("alert")).toHaveCount(0);
	await act("Terminate").click();
	await act("Terminate it").click();
	await expect(status).toHaveText("terminated");
	refused.push(`/studies/${study.id}`); // a read that a change of the study caused may cross the deletion
	await act("Delete").click();
	await act("Delete it").click();
	await expect(page).toHaveURL(/studies$/);
	await expect(page.getByRole("link", { name: "to-be-stopped" })).toHaveCount(0);
	const gone = new URL(`api/v1/studies/${study.id}`, page.url().replace(/(\/console\/).*/, "$1"));
	expect((await page.request.get(gone.href)).status()).toBe(404);
});

// 10,000 runs would take minutes, so the service's replies are written here, in the form of the contract.
test("a study of 10,000 points is shown whole", async ({ page }) => {
	const points = 10_000;
	const [ratio, ranks] = ["topologyConstraints.subscriptionRatio", "workload.ranks"];
	const values = Array.from({ length: 100 }, (_value, i) => i + 1);
	const id = "study_01kahcfv4ge3brkm7j1n3p5q7r";
	const progress = { shared: 0, completed: points, failed: 0, terminated: 0, invalid: 0, waiting: 0, unfinished: 0 };
	const base = { simple: { workload: { ranks: 64, phases: [{ operationType: "allReduce", dataSize: 1024 }] } } };
	const axes = [
		{ field: ratio, values: values.map((value) => `${value}:1`) },
		{ field: ranks, values },
	];
	const row = (point: number) => ({
		point,
		inputs: { [ratio]: `${Math.floor(point / 100) + 1}:1`, [ranks]: (point % 100) + 1 },
		status: "completed",
		shared: false,
		figures: { ranks: 64, simulatedTimePs: 1000 * (point + 1), goodputBps: 1000, busiestTier: "rsw ul", linkUtilization: 0.5, bottleneck: "links rsw ul", bottleneckShare: 0.9, exposedShare: 1 },
		fabric: { price: String(1000 + ((point * 7919) % points)), powerWatts: "1", switches: 1, nics: 64, links: 64 },
	});
	const front = [0];
	await page.route(new RegExp(`/v1/studies/${id}$`), (route) =>
		route.fulfill({
			json: { id, workspaceId: "workspace_01kahcfv4ge3brkm7f0v3x2m8p", name: "ten thousand", status: "completed", method: "grid", points, base, axes, progress, createdAt: "2026-11-21T08:30:00.125Z" },
		}),
	);
	await page.route(new RegExp(`/v1/studies/${id}/results`), (route) => {
		const from = Number(new URL(route.request().url()).searchParams.get("cursor") ?? 0);
		const pagination = { count: 1000, hasMore: from + 1000 < points, ...(from + 1000 < points && { nextCursor: String(from + 1000) }) };
		return route.fulfill({ json: { studyId: id, results: Array.from({ length: 1000 }, (_row, i) => row(from + i)), pagination } });
	});
	const effect = { groups: 1, meanRatio: 1.5, maxRatio: 2, values: [] };
	const design = axes.map(({ field }) => ({ field, kind: "design", time: effect, price: effect }));
	await page.route(new RegExp(`/v1/studies/${id}/analysis`), (route) =>
		route.fulfill({
			json: {
				studyId: id,
				priceList: { version: "own", currency: "EUR", assumption: "" },
				points,
				completed: points,
				front: front.map(row),
				axes: design,
				workloads: [{ inputs: {}, completed: points, front, axes: design }],
			},
		}),
	);
	await page.goto("studies");
	await login(page);
	await page.goto(`studies/${id}`);
	await expect(page.getByText("10000 loaded")).toBeVisible();
	await expect(page.getByRole("group", { name: "Price and simulated time of 10000 points, 1 of them on the front" })).toBeVisible();
	await expect(page.getByRole("region", { name: "Heat map" }).getByRole("button")).toHaveCount(points);
	const rows = page.getByRole("rowgroup", { name: "Points: rows" });
	await rows.evaluate((scroller) => scroller.scrollTo(0, scroller.scrollHeight));
	await expect(rows.getByRole("row").last()).toContainText("10 µs");
});

test("bills need a role, and say so", async ({ page }) => {
	await page.goto("bills");
	await login(page);
	await expect(page.getByText(/are read with the role billing/)).toBeVisible();
	await logout(page);
	await page.goto("bills");
	await login(page, "biller");
	await expect(page.getByText(/Balance of/)).toBeVisible();
	await expect(page.getByText(/Nothing was charged|By rate/).first()).toBeVisible();
	await expect(page.getByRole("heading", { name: /Rates on/ })).toBeVisible();
	await expect(page.getByRole("alert")).toBeHidden();
});

test("amounts are shown with all their digits", async ({ page }) => {
	// What a service sends to people with the role is not this journey's subject.
	await page.route("**/console/session", async (route) => {
		const reply = await route.fetch();
		await route.fulfill({ response: reply, ...(reply.ok() && { json: { ...(await reply.json()), roles: ["billing"] } }) });
	});
	const pagination = { count: 1, hasMore: false };
	const total = "123456789012.345678901234567891";
	const replies: Record<string, unknown> = {
		balance: {
			balances: [{ accountId: "a", accountName: "A", accountType: "prepaid", currentBalance: "-0.000000000000000001", totalCredits: total, totalDebits: "9.5", currency: "CREDIT" }],
			pagination,
		},
		"costs/summary": {
			startDate: "2026-11-01",
			endDate: "2026-11-26",
			CREDIT: { total, byRate: { compute: total }, byWorkspace: { unassigned: total } },
			USD: { total: "0", byRate: {}, byWorkspace: {} },
		},
		costs: { costs: [], pagination: { count: 0, hasMore: false } },
		rates: { rates: [], pagination: { count: 0, hasMore: false } },
	};
	for (const [operation, json] of Object.entries(replies)) await page.route(new RegExp(`/billing/${operation}(\\?|$)`), (route) => route.fulfill({ json }));
	await page.goto("bills");
	await login(page);
	const heading = page.getByRole("region", { name: "Costs in CREDIT" }).getByRole("heading", { level: 2 });
	await expect(heading).toHaveText("Cost of these days: ≈ 123 456 789 012.35 CREDIT");
	await heading.getByRole("button").click();
	await expect(heading).toHaveText("Cost of these days: 123 456 789 012.345678901234567891 CREDIT");
	await accessible(page);
	await expect(page.getByText("-0.000000000000000001 CREDIT")).toBeVisible();
});
