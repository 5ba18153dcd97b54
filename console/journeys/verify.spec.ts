import { readFileSync } from "node:fs";
import { accessible, expect, login, run, test } from "./journey";
import { netsim } from "./shell";

const golden = (name: string) => `../audit/testdata/${name}`;
const key = readFileSync(golden("key"), "utf8").trim();

test("a bundle is verified and explained down to the log, and a forged one is refused", async ({ page }) => {
	await page.goto(`bills/verify?key=${encodeURIComponent(key)}&account=acct_00000000000000000000000001&from=2026-11-02&to=2026-11-04`);
	await login(page, "biller");
	const file = page.getByLabel("Drop a bundle here, or choose its file");
	const sent: string[] = [];
	page.on("request", (request) => request.method() !== "GET" && sent.push(request.url()));
	await file.setInputFiles(golden("bundle.jsonl"));
	const verdict = page.getByRole("region", { name: "Verdict" });
	await expect(verdict).toContainText("everything that is there agrees, but its end may have been cut off");
	await expect(verdict).toContainText("37 lines, 21 events, 8 costs, 4 checkpoints");
	await expect(verdict).toContainText("total cluster 2159.98272 CREDIT");

	// A cost: its day, its events, their records and the checkpoint.
	await page.getByRole("link", { name: "Explain line 25" }).click();
	const explained = page.getByRole("region", { name: "Line 25 explained" });
	await expect(explained).toContainText("item 1 on 2026-11-03 costs 1\u202f200 CREDIT");
	await expect(explained).toContainText("10.00 CREDIT an hour, set by event 1 of platform_netsim with the hash 452eb3650813f8b77d3f8ba65741c39ee5f3e3f92755a9632ec1dd15772eaa4b");
	await expect(explained).toContainText("Price of a unit for the day240 CREDIT");
	await expect(explained.getByRole("listitem")).toHaveCount(2);
	await expect(explained.getByRole("listitem").last()).toContainText("update at 2026-11-03T12:00:00.000Z: 6 units");
	await expect(explained).toContainText("proves the chain up to event 9");
	await explained.getByRole("listitem").last().getByRole("link").click();
	const record = page.getByRole("region", { name: "Line 10", exact: true });
	await expect(record).toContainText("netsim.billing.usage_recorded.v1");
	await expect(record).toContainText("29c69c8b6db960634f005712f4755f62688f6d72ed8304c75e5d84c8c8ee023f");
	await expect(page).toHaveURL(/line=10/);
	await explained.getByRole("link", { name: "2026-11-03" }).last().click();
	await expect(page.getByRole("region", { name: "Line 34", exact: true })).toContainText("netsim checkpoint v1");
	await accessible(page);

	await explained.getByRole("link", { name: "Close the explanation" }).click();
	await expect(explained).toHaveCount(0);

	// A checkpoint of one's own shows more.
	await page.getByLabel("Checkpoints that you hold").setInputFiles(golden("held.note"));
	await file.setInputFiles(golden("bundle.jsonl"));
	await expect(verdict.getByRole("status")).toHaveText("everything agrees");
	await file.setInputFiles(golden("forged.jsonl"));
	await expect(verdict).toContainText("the verification failed: 1 found");
	await expect(page.getByRole("table", { name: "Findings" })).toContainText("the bundle has no checkpoint 2026-11-04 of 2026-11-05T00:02:30.000Z, which you hold");

	// A byte that was changed, dropped on the page.
	const forged = readFileSync(golden("bundle.jsonl"), "utf8").replace('"cost":"600"', '"cost":"500"');
	const dropped = await page.evaluateHandle((text) => {
		const files = new DataTransfer();
		files.items.add(new File([text], "forged.jsonl"));
		return files;
	}, forged);
	await page.getByRole("region", { name: "The bundle", exact: true }).dispatchEvent("drop", { dataTransfer: dropped });
	await expect(page.getByRole("table", { name: "Findings" })).toContainText("its bytes were changed: its checksum does not match (daily cost 4, event 4)");
	await accessible(page);
	expect(sent, "nothing is sent").toEqual([]);
});

test("the bundle of one's own account is verified as the service writes it", async ({ page }) => {
	const today = new Date().toISOString().slice(0, 10);
	await page.goto(`bills/verify?from=${today}&to=${today}&preliminary=yes&noNote=yes`);
	await login(page, "biller");
	await run(page, "verified");
	netsim("audit", "checkpoint", "--name", `journey-${Date.now()}`);
	await page.getByRole("button", { name: "Verify my account's bundle of these days" }).click();
	const verdict = page.getByRole("region", { name: "Verdict" });
	await expect(verdict.getByRole("status")).toHaveText("everything that is there agrees");
	await expect(verdict).toContainText(`from ${today} to ${today}`);
});
