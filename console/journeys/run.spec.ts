import { expect, login, run, test } from "./journey";

test("a run shows its result, its fabric, its path, its files and its log", async ({ page }) => {
	await page.goto("");
	await login(page);
	const id = await run(page, "run-page", 64);
	await page.goto(`simulations/${id}`);
	await expect(page.getByText(/It takes .* of simulated time/)).toBeVisible();
	await expect(page.getByText("Ranks", { exact: true })).toBeVisible();

	const views = page.getByRole("navigation", { name: "Views of the simulation" });
	await views.getByRole("link", { name: "Fabric" }).click();
	await expect(page.getByText(/64 NIC; .* links/)).toBeVisible();
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

test("curl of a page works as it stands", async ({ page }) => {
	await page.goto("simulations?status=running");
	await login(page);
	await page.getByText("The same with curl").click();
	await expect(page.locator(".curl pre")).toContainText("\"$NETSIM\"/'simulations?status=running&limit=100'");
});

test("what does not exist says so and leads on", async ({ page, refused }) => {
	refused.push("sim_00000000000000000000000000");
	await page.goto("simulations/sim_00000000000000000000000000");
	await login(page);
	await expect(page.getByRole("alert")).toContainText("It does not exist, was deleted, or belongs to another account");
	await page.goto("nowhere");
	await expect(page.getByRole("heading", { name: "No such page" })).toBeVisible();
});
