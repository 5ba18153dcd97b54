import { expect, login, test } from "./journey";

test("a tab from before an upgrade reloads once, and then shows its page", async ({ page, refused }) => {
	refused.push("/assets/");
	await page.goto("");
	await login(page);
	await expect(page.getByRole("heading", { name: "Start" })).toBeVisible();
	// The service replies so below the digest of another release.
	let gone = 0;
	await page.route("**/assets/*/studies.js", (route) => (gone++ === 0 ? route.fulfill({ status: 404 }) : route.continue()));
	await page.getByRole("link", { name: "Studies" }).click();
	await expect(page.getByRole("heading", { name: "Studies" })).toBeVisible();
	expect(gone).toBe(2);
});

test("a file that stays away is an error with a way on, and no loop", async ({ page, refused }) => {
	refused.push("/assets/");
	refused.push("a file of the console cannot be loaded");
	await page.goto("");
	await login(page);
	await page.route("**/assets/*/studies.js", (route) => route.fulfill({ status: 404 }));
	await page.getByRole("link", { name: "Studies" }).click();
	await expect(page.getByRole("alert")).toContainText("The page cannot be shown");
	await page.unroute("**/assets/*/studies.js");
	await page.getByRole("button", { name: "Try again" }).click();
	await expect(page.getByRole("heading", { name: "Studies" })).toBeVisible();
});
