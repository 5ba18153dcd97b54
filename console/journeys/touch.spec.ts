import type { CDPSession, Locator, Page } from "@playwright/test";
import { accessible, expect, login, run, test } from "./journey";

// A phone without a mouse: everything here is done with fingers.
test.use({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } });

type Place = { x: number; y: number };

/** Fingers on the screen. Playwright has only taps. */
async function fingers(page: Page): Promise<{ move: (...paths: [from: Place, to: Place][]) => Promise<void> }> {
	const session: CDPSession = await page.context().newCDPSession(page);
	const places = (paths: [Place, Place][], part: number) => paths.map(([from, to], id) => ({ id, x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }));
	return {
		move: async (...paths) => {
			// The fingers stand still before they leave: a picture that is thrown would take the next tap for its end.
			const parts = [0, 0.1, 0.25, 0.4, 0.6, 0.75, 0.9, 1, 1, 1];
			const began = Date.now() / 1000;
			for (const [step, part] of parts.entries()) {
				await session.send("Input.dispatchTouchEvent", { type: step === 0 ? "touchStart" : "touchMove", touchPoints: places(paths, part), timestamp: began + step / 10 });
			}
			await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [], timestamp: began + 1 });
		},
	};
}

/** A place in an element, in parts of its size. */
async function within(element: Locator): Promise<(x: number, y: number) => Place> {
	await element.scrollIntoViewIfNeeded();
	const box = await element.boundingBox();
	if (!box) throw new Error("it is not on the page");
	return (x, y) => ({ x: box.x + box.width * x, y: box.y + box.height * y });
}

/** The scale and the left end of a view, as the address has them when it stands still. */
const view = (page: Page) => (new URL(page.url()).searchParams.get("zoom") ?? "1,0").split(",").map(Number) as [scale: number, from: number];
const scale = (page: Page) => expect.poll(() => view(page)[0]);

test("with fingers, the fabric and the spans of a run are zoomed, moved and read", async ({ page }) => {
	await page.goto("");
	await login(page);
	const id = await run(page, "touched", 64);
	const hand = await fingers(page);

	await page.goto(`simulations/${id}?view=fabric`);
	await expect(page.locator("[data-frame]")).toBeVisible();
	const fabric = page.getByRole("application");
	let at = await within(fabric);
	const top = await page.evaluate(() => scrollY);
	await hand.move([at(0.45, 0.5), at(0.15, 0.5)], [at(0.55, 0.5), at(0.85, 0.5)]);
	await scale(page).toBeGreaterThan(4);
	const [zoomed, from] = view(page);
	// Straight up and down, where a finger alone would scroll the page.
	await hand.move([at(0.5, 0.45), at(0.5, 0.3)], [at(0.5, 0.55), at(0.5, 0.7)]);
	await scale(page).toBeGreaterThan(zoomed * 2);
	expect(await page.evaluate(() => [scrollY, visualViewport?.scale])).toEqual([top, 1]);
	await hand.move([at(0.2, 0.5), at(0.45, 0.5)], [at(0.8, 0.5), at(0.55, 0.5)]);
	await scale(page).toBeLessThan(zoomed * 2);
	const left = view(page)[1];
	await hand.move([at(0.8, 0.5), at(0.2, 0.5)]);
	await expect.poll(() => view(page)[1]).toBeGreaterThan(left);
	expect(from).toBeGreaterThan(0);
	await page.getByRole("button", { name: "Show all" }).tap();
	await scale(page).toBe(1);
	at = await within(fabric);
	const bottom = at(0.5, 0.9);
	await page.touchscreen.tap(bottom.x, bottom.y);
	await expect(page.getByText(/the busiest sends/)).toBeInViewport();
	await accessible(page);

	await page.getByRole("link", { name: "Timeline" }).tap();
	await page.getByRole("link", { name: "Every span" }).tap();
	await expect(page.getByText(/spans in .* rows; 0\sps to/)).toBeVisible();
	const spans = page.getByRole("application", { name: /^Every span/ });
	at = await within(spans);
	await hand.move([at(0.4, 0.5), at(0.2, 0.5)], [at(0.6, 0.5), at(0.8, 0.5)]);
	await scale(page).toBeGreaterThan(2);
	await expect(page.getByText(/spans in .* rows/)).not.toContainText("; 0 ps to");
	const before = view(page)[1];
	await hand.move([at(0.2, 0.5), at(0.8, 0.5)]);
	await expect.poll(() => view(page)[1]).toBeLessThan(before);
	await page.getByRole("button", { name: "Rows below" }).tap();
	await expect(page).toHaveURL(/row=30/);
	await page.getByRole("button", { name: "Rows above" }).tap();
	await expect(page).not.toHaveURL(/row=/);
	await page.getByRole("button", { name: "Show all" }).tap();
	at = await within(spans);
	const first = at(0.5, 0.01);
	await page.touchscreen.tap(first.x, first.y);
	await expect(page.getByText(/^rank 0, /)).toBeInViewport();
	await accessible(page);
});

test("with fingers, from the bills to the explanation of a line and its record in the log", async ({ page }) => {
	await page.goto("bills");
	await login(page, "biller");
	await page.getByRole("link", { name: "Verify a bundle" }).tap();
	await page.getByLabel("Drop a bundle here, or choose its file").setInputFiles("../audit/testdata/bundle.jsonl");
	await expect(page.getByRole("region", { name: "Verdict" })).toContainText("37 lines, 21 events");
	await page.getByRole("link", { name: "Explain line 25" }).tap();
	const explained = page.getByRole("region", { name: "Line 25 explained" });
	await expect(explained.getByRole("heading", { level: 2 })).toBeInViewport();
	await expect(explained).toContainText("costs 1\u202f200 CREDIT");
	await explained.getByRole("listitem").last().getByRole("link").tap();
	await expect(page.getByRole("region", { name: "Line 10", exact: true }).getByRole("heading")).toBeInViewport();
	await expect(page.getByRole("region", { name: "Line 10", exact: true })).toContainText("netsim.billing.usage_recorded.v1");
	await accessible(page);
});
