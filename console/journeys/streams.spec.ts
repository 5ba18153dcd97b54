import { expect, login, run, test } from "./journey";

test("from a run to its facts, to what its request caused, to the bill", async ({ page }) => {
	await page.goto("");
	await login(page, "biller");
	const id = await run(page, "stream-run");
	await page.goto(`simulations/${id}`);
	await page.getByRole("link", { name: "What happened" }).click();
	await expect(page.getByRole("heading", { level: 1, name: "What happened" })).toBeVisible();

	const first = page.getByRole("listitem").filter({ hasText: "netsim.simulation.requested" });
	await expect(first.getByRole("row", { name: /status/ })).toBeVisible();
	const last = page.getByRole("listitem").filter({ hasText: "netsim.simulation.completed" });
	// Only what changed: the status did, the request did not.
	await expect(last.getByRole("row", { name: /running.*completed/ })).toBeVisible();
	await expect(first.getByRole("row", { name: /^request/ })).toBeVisible();
	await expect(last.getByRole("row", { name: /^request/ })).toHaveCount(0);
	await last.getByText("The fact", { exact: true }).click();
	await expect(last.getByText(/sha256:/).first()).toBeVisible();

	await first.getByRole("link", { name: /All that its request caused/ }).click();
	await expect(page.getByRole("heading", { level: 1, name: "What a request caused" })).toBeVisible();
	await expect(page.getByText(/\d+ facts in \d+ streams/)).toBeVisible();
	const request = await page.locator(".headline code").textContent();
	// The usage of the run itself; that of its files is billed too.
	const bill = page
		.locator(".causes li", { has: page.locator(":scope > a", { hasText: "netsim.simulation.started" }) })
		.locator(":scope > ol .bill > a")
		.first();
	await bill.click();
	await expect(page.locator(".headline code")).toHaveText(/^acct_/);
	const usage = page.locator(".facts-of > li").first();
	await expect(usage).toContainText("netsim.billing.usage_recorded");
	await usage.getByText("The fact", { exact: true }).click();
	await expect(usage.locator("pre")).toContainText(id);

	await page.getByRole("link", { name: "Streams", exact: true }).click();
	await page.getByLabel(/Id of a stream/).fill(` ${request} `);
	await page.getByRole("button", { name: "What the request caused" }).click();
	await expect(page.getByText("netsim.simulation.requested").first()).toBeVisible();
	await page.goBack();
	await page.getByLabel(/Id of a stream/).fill(id);
	await page.getByRole("button", { name: "Show the stream" }).click();
	await expect(page.getByText("netsim.simulation.requested").first()).toBeVisible();
});

test("a stream that one may not see is as one that does not exist", async ({ page, refused }) => {
	refused.push("/streams/");
	await page.goto("streams/acct_00000000000000000000000000");
	await login(page);
	await expect(page.getByRole("alert")).toContainText(/Loading the stream failed/);
});
