import { readFileSync } from "node:fs";
import { sum } from "../src/lib/decimal";
import { api, expect, login, run, test } from "./journey";

test("the costs of the bill are downloaded as a FOCUS dataset, and add up to it", async ({ page }) => {
	await page.goto("bills");
	await login(page, "biller");
	await run(page, "bill-in-focus");
	const today = new Date().toISOString().slice(0, 10);
	const days = { from: `${today.slice(0, 8)}01`, to: today };
	const summary = async () => (await api(page, `billing/costs/summary?startDate=${days.from}&endDate=${days.to}`)).CREDIT?.total ?? "0";
	await expect.poll(summary, { timeout: 60_000 }).not.toBe("0");
	// Costs of the run may still come: the file, the summary and the page are compared until they were all read after the last one.
	await expect(async () => {
		await page.goto(`bills?from=${days.from}&to=${days.to}`);
		const [csv] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "CSV" }).click()]);
		expect(csv.suggestedFilename()).toBe(`focus-${days.from}-${days.to}.csv`);
		const [header = "", ...lines] = readFileSync(await csv.path(), "utf8")
			.trim()
			.split("\n");
		const rows = lines.map((line) => [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, value]) => value ?? ""));
		const values = (column: string) => rows.map((row) => row[header.split(",").indexOf(column)] ?? "");
		expect(new Set(values("PricingCurrency"))).toEqual(new Set(["CREDIT"]));
		const total = sum(values("PricingCurrencyEffectiveCost"));
		expect(total).toBe(await summary());
		expect(sum(values("BilledCost")), "a CREDIT is 1 USD").toBe(total);
		await expect(page.getByRole("region", { name: "Costs in CREDIT" }).getByRole("heading", { level: 2 }).getByTitle(`${total} CREDIT`)).toBeVisible({ timeout: 3000 });
	}).toPass({ timeout: 60_000 });
	const [parquet] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Parquet" }).click()]);
	expect(
		readFileSync(await parquet.path())
			.subarray(0, 4)
			.toString(),
	).toBe("PAR1");
});
