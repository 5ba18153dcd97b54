import { expect, test } from "./journey";

// Journeys that must fail: what they watch for is seen.
test.fail("a report of the content security policy fails a journey", async ({ page }) => {
	await page.goto("");
	await expect(page.getByRole("heading", { name: "Log in" })).toBeVisible();
	await page.evaluate(() => {
		document.body.innerHTML += '<p style="color: red">styled inline</p>';
	});
	await expect(page.getByText("styled inline")).toBeVisible();
});

test.fail("an error in the browser's log fails a journey", async ({ page }) => {
	await page.goto("");
	await expect(page.getByRole("heading", { name: "Log in" })).toBeVisible();
	await page.evaluate(() => console.error("seen by nobody"));
});

test.fail("an exception that nothing catches fails a journey", async ({ page }) => {
	await page.goto("");
	await expect(page.getByRole("heading", { name: "Log in" })).toBeVisible();
	await page.evaluate(() => void Promise.reject(new Error("lost")));
	await expect(page.getByRole("heading", { name: "Log in" })).toBeVisible();
});
