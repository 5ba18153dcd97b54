import { expect, login, run, test } from "./journey";

test("runs are chosen in the list, and only what differs is shown, from a baseline", async ({ page }) => {
	await page.goto("");
	await login(page);
	const thin = await run(page, "compare-thin", 256, { subscriptionRatio: "4:1" });
	const full = await run(page, "compare-full", 256, { subscriptionRatio: "1:1" });
	await page.goto("simulations?search=compare-");
	await page.getByLabel("Compare compare-thin").check();
	await page.getByLabel("Compare compare-full").check();
	await page.getByRole("link", { name: "Compare 2" }).click();
	await expect(page.getByRole("heading", { name: "Compare" })).toBeVisible();
	const table = page.getByRole("region", { name: "Differences" });
	await expect(table.getByText("Subscription", { exact: true })).toBeVisible();
	await expect(table.getByRole("rowheader", { name: "Ranks", exact: true })).toBeHidden();
	await expect(table.getByRole("row").filter({ has: page.getByRole("rowheader", { name: "Price", exact: true }) })).toHaveText(/\d USD.*\d USD/);
	await page.getByRole("button", { name: "Make it the baseline" }).click();
	await expect(page).toHaveURL(new RegExp(`baseline=(${thin}|${full})`));
	await expect(table.getByText("Subscription", { exact: true })).toBeVisible();
});
