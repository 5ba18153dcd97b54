import type { Page } from "@playwright/test";
import { accessible, expect, login, run, test } from "./journey";
import { netsim } from "./shell";

// What else goes wrong: each page says what happened, and what can be done.

test("a session whose row is gone leads to the login, and back to its page", async ({ page, refused }) => {
	refused.push("/console/api/");
	await page.goto("studies");
	await login(page);
	const { user } = await (await page.request.get("session")).json();
	netsim("psql", "-qc", `DELETE FROM netsim.console_sessions WHERE user_id = '${user.id}'`);
	await page.getByRole("link", { name: "Simulations" }).click();
	await expect(page.getByText("Your session has ended")).toBeVisible();
	await login(page);
	await expect(page.getByRole("heading", { name: "Simulations" })).toBeVisible();
});

test("ages are right in a browser whose clock is wrong by a day", async ({ page }) => {
	await page.clock.setSystemTime(Date.now() + 86_400_000);
	await page.goto("simulations?search=clock");
	await login(page);
	await run(page, "clock", 8);
	const row = page.getByRole("row", { name: /clock/ });
	await expect(row).toContainText(/just now|\d+\ss ago/);
	await row.getByRole("link").click();
	await expect(page.locator(".headline")).toContainText(/just now|\d+\ss ago/);
	await expect(page.locator(".headline")).toContainText(/ran for \d+(\.\d+)?\sm?s of/);
});

test("without a network the page says that it is out of date, and goes on by itself", async ({ page, context, refused }) => {
	refused.push("/console/");
	await page.goto("simulations?search=offline");
	await login(page);
	await expect(page.getByText("live", { exact: true })).toBeVisible();
	await context.setOffline(true);
	await expect(page.getByText("This browser is offline")).toBeVisible();
	await accessible(page);
	await context.setOffline(false);
	await expect(page.getByText("This browser is offline")).toHaveCount(0);
	await run(page, "offline", 8);
	await expect(page.getByRole("row", { name: /offline/ })).toContainText("completed");
});

test("while the object store is away, pages of a run say so, and what needs no file is shown", async ({ page, refused }) => {
	await page.goto("");
	await login(page);
	const id = await run(page, "no-store", 16);
	const { objectStore } = await (await page.request.get("session")).json();
	refused.push(objectStore);
	await page.route(`${objectStore}/**`, (route) => route.abort());
	for (const [view, says] of [
		["fabric", /The fabric cannot be drawn/],
		["timeline&density=spans", /The trace cannot be drawn/],
	] as const) {
		await page.goto(`simulations/${id}?view=${view}`);
		await expect(page.getByRole("alert")).toContainText(says);
		await expect(page.getByRole("alert")).toContainText("the object store cannot be reached from this browser");
		await expect(page.locator(".headline")).toContainText("completed");
	}
	await page.getByRole("link", { name: "Result", exact: true }).click();
	await expect(page.getByText(/It takes .* of simulated time/)).toBeVisible();
	const replies = new Map<string, Buffer>(); // links of the same second are equal: those of a second try are here
	await page.route(`**/api/v1/simulations/${id}/results**`, async (route) => {
		const asked = route.request().url();
		const body = replies.get(asked) ?? (await (await route.fetch()).body());
		replies.set(asked, body);
		await route.fulfill({ body, contentType: "application/json" });
	});
	for (const view of ["fabric", "timeline&density=spans"]) {
		await page.goto(`simulations/${id}?view=${view}`);
		await expect(page.getByRole("alert")).toContainText("cannot be reached");
		await page.unroute(`${objectStore}/**`);
		await page.getByRole("button", { name: "Try again" }).click();
		await expect(page.locator("[data-frame]")).toBeVisible();
		await page.route(`${objectStore}/**`, (route) => route.abort());
	}
});

/** Logs in with what the issuer's form says. */
async function loginWith(page: Page, fields: Record<string, string>, role: string): Promise<void> {
	await page.getByRole("main").getByRole("link", { name: "Log in" }).click();
	for (const [label, value] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(value);
	await page.getByLabel(role, { exact: true }).check();
	await page.getByRole("button", { name: "Log in" }).click();
	await expect(page.getByRole("button", { name: "Log out" })).toBeVisible();
}

test("who has the role billing and no workspace reads the bills, and why lists are empty", async ({ page }) => {
	// The development issuer gives all workspaces; what others give is not its subject.
	await page.route("**/console/session", async (route) => {
		const reply = await route.fetch();
		const body = await reply.text();
		return route.fulfill({ response: reply, body: body.replace(/"workspaces":\s*("\*"|\[[^\]]*\])/, '"workspaces":[]') });
	});
	await page.route(/\/v1\/workspaces\?/, (route) => route.fulfill({ json: { workspaces: [], pagination: { count: 0, hasMore: false } } }));
	await page.goto("bills");
	await loginWith(page, { Name: "auditor" }, "billing");
	await expect(page.getByText(/Balance of/)).toBeVisible();
	await expect(page.getByRole("heading", { name: /Rates on/ })).toBeVisible();
	await expect(page.getByRole("alert")).toBeHidden();
	await accessible(page);
	await page.goto("tracesets");
	await expect(page.getByText("Your login gives access to no workspace")).toBeVisible();
	await expect(page.getByRole("link", { name: "Machine room" })).toHaveCount(0);
});

test("an operator whose account has nothing sees the deployment, and no data of accounts", async ({ page }) => {
	await page.goto("machine");
	await loginWith(page, { Name: "outside", Account: "acct_0000000000e008000000000099" }, "operator");
	await expect(page.getByRole("region", { name: /^Read model/ }).first()).toContainText(/Projected by/);
	await page.goto("machine?view=work");
	await expect(page.getByText(/of any account|of all accounts/).first()).toBeVisible();
	await page.goto("bills");
	await expect(page.getByText(/are read with the role billing/)).toBeVisible();
	await page.goto("simulations");
	await expect(page.getByText("There are no simulations yet")).toBeVisible();
	await expect(page.getByRole("alert")).toBeHidden();
});
