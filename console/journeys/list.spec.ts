import { api, expect, login, run, test } from "./journey";

test("the address has the filters of the list, and the list follows what happens", async ({ page }) => {
	await page.goto("simulations");
	await login(page);
	await run(page, "list-alpha");
	await run(page, "list-beta");
	await page.goto("simulations?search=list-a&status=completed");
	const rows = page.getByRole("table", { name: "Simulations" }).getByRole("link");
	await expect(rows).toHaveText(["list-alpha"]);
	await expect(page.getByText("1 loaded", { exact: true }), "one row does not scroll").toBeVisible();
	await expect(page.getByRole("button", { name: "completed" })).toHaveAttribute("aria-pressed", "true");

	await page.getByLabel("Search names").fill("list-");
	await expect(rows).toHaveText(["list-beta", "list-alpha"]);
	await page.getByLabel("Order").selectOption("by name");
	await expect(rows).toHaveText(["list-alpha", "list-beta"]);
	expect(new URL(page.url()).search).toBe("?search=list-&status=completed&sort=name:asc");
	await page.reload();
	await expect(rows).toHaveText(["list-alpha", "list-beta"]);

	const views = page.locator("details.views");
	await views.getByText("Saved views").click();
	await views.getByLabel("Save these filters as").fill("mine, by name");
	await views.getByRole("button", { name: "Save" }).click();
	await page.goto("simulations");
	await expect(rows).not.toHaveText(["list-alpha", "list-beta"]);
	await views.getByText("Saved views").click();
	await views.getByRole("button", { name: "mine, by name", exact: true }).click();
	await expect(rows).toHaveText(["list-alpha", "list-beta"]);
	expect(new URL(page.url()).searchParams.get("sort")).toBe("name:asc");
	await views.getByRole("button", { name: "Forget the view mine, by name" }).click();
	await expect(views.getByRole("button", { name: "mine, by name", exact: true })).toHaveCount(0);
	await page.getByText("The same in SQL, from the lake").click();
	await expect(page.getByText("FROM lake.simulation_runs")).toBeVisible();

	await page.getByRole("button", { name: "failed" }).click();
	await page.getByRole("button", { name: "completed" }).click();
	await expect(page.getByText("No simulation matches these filters.")).toBeVisible();

	await page.goto("simulations?search=list-");
	await expect(page.getByText("live", { exact: true })).toBeVisible();
	await run(page, "list-gamma");
	await expect(rows.first()).toHaveText("list-gamma");
	await expect(page.getByRole("row", { name: /list-gamma/ })).toContainText("completed");

	await page.getByRole("button", { name: "Pause" }).click();
	await expect(page.getByText("paused", { exact: true })).toBeVisible();
	await api(page, "simple/simulations", { name: "list-delta", workload: { ranks: 8, phases: [{ operationType: "allReduce", dataSize: 1024 }] } });
	await expect.poll(async () => (await api(page, "simulations?search=list-delta")).simulations.length).toBe(1);
	await expect(rows.first()).toHaveText("list-gamma");
});
