import type { Route } from "@playwright/test";
import { api, expect, login, loginAs, logout, run, test } from "./journey";

test("a deep link leads through the login to its page", async ({ page, context }) => {
	await page.goto("");
	await login(page);
	const id = await run(page, "deep-link");
	await context.clearCookies();
	await page.goto(`simulations/${id}?view=logs&level=info`);
	await login(page);
	await expect(page).toHaveURL(new RegExp(`simulations/${id}\\?view=logs&level=info$`));
	await expect(page.getByRole("heading", { name: "deep-link" })).toBeVisible();
	await expect(page.getByLabel("At least")).toHaveValue("info");
});

test("who logs out is out, also with the back button", async ({ page }) => {
	await page.goto("simulations");
	await login(page);
	await logout(page);
	await expect(page.getByRole("heading", { name: "Log in" })).toBeVisible();
	await page.goBack();
	await expect(page.getByRole("heading", { name: "Log in" })).toBeVisible();
	expect((await page.request.get("session")).status()).toBe(401);
});

test("a request of the page does not meet the logout", async ({ page }) => {
	await page.goto("");
	await login(page);
	// The list waits until the service has ended the session, and the page learns of that later.
	const held: Route[] = [];
	await page.route(/\/v1\/simulations\?/, (route) => {
		held.push(route);
	});
	await page.route(/\/console\/logout$/, async (route) => {
		const response = await route.fetch();
		for (const list of held) {
			await list.continue().catch(() => {}); // it is cancelled
			await list.request().response();
		}
		await route.fulfill({ response });
	});
	await page.getByRole("link", { name: "Simulations" }).click();
	await expect.poll(() => held.length).toBeGreaterThan(0);
	await logout(page);
	expect((await page.request.get("session")).status()).toBe(401);
});

test("a session outlives its access token; when it ends, the page says so and comes back", async ({ page, context, refused }) => {
	refused.push("/console/api/");
	await page.goto("simulations");
	await loginAs(page, "ada", 2);
	const expires = Date.parse((await (await page.request.get("session")).json()).expires);
	await expect.poll(() => Date.now() - expires < 0 || Date.now() > expires, { timeout: 10_000 }).toBe(true);
	await page.waitForTimeout(3000); // the access token's 2 s are the subject
	await api(page, "simulations?limit=1");
	await page.getByRole("link", { name: "Studies" }).click();
	await expect(page.getByRole("heading", { name: "Studies" })).toBeVisible();

	await context.clearCookies();
	await page.getByRole("link", { name: "Simulations" }).click();
	await expect(page.getByRole("heading", { name: "Log in" })).toBeVisible();
	await expect(page.getByText("Your session has ended")).toBeVisible();
	await loginAs(page, "ada");
	await expect(page.getByRole("heading", { name: "Simulations" })).toBeVisible();
});

test("a name of markup and of another direction is text", async ({ page }) => {
	await page.goto("");
	const name = '<img src=x onerror="alert(1)"> \u202eاسم';
	await loginAs(page, name);
	await expect(page.locator("header bdi").first()).toHaveText(name);
	expect(await page.locator("header img").count()).toBe(0);
});
