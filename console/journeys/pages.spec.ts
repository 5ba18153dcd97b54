import type { Page } from "@playwright/test";
import { accessible, api, completed, expect, login, run, test } from "./journey";

// Every page, light and dark, wide and narrow: without serious findings of axe, without a
// bar to scroll sideways, and as a picture in .cache/journeys/pages.
const sizes = { wide: { width: 1280, height: 900 }, narrow: { width: 390, height: 844 } };

async function addresses(page: Page): Promise<Record<string, [string, RegExp | string]>> {
	const a = await run(page, "pages-a", 256, { subscriptionRatio: "4:1" });
	const b = await run(page, "pages-b", 256, { subscriptionRatio: "1:1" });
	const study = await api(page, "studies", {
		name: "pages-study",
		base: { simple: { workload: { ranks: 256, phases: [{ operationType: "allToAll", dataSize: 4194304 }] }, topologyConstraints: { subscriptionRatio: "1:1" } } },
		axes: [
			{ field: "topologyConstraints.subscriptionRatio", values: ["1:1", "2:1", "4:1"] },
			{ field: "topologyConstraints.switchRadix", values: ["64x800G", "128x400G"] },
		],
	});
	await completed(page, `studies/${study.id}`);
	const { facts } = await api(page, `streams/${a}`);
	const { templates } = await api(page, "templates?search=Three-tier");
	const { items } = await api(page, "tracesets?status=ready");
	// The receiver is the service itself, which refuses what it gets.
	const webhook = await api(page, "webhooks", { url: new URL("/hooks", page.url()).href, description: "nightly", filter: { type: ["netsim.webhook.updated.v1"] } });
	await api(page, `webhooks/${webhook.id}/test`, {});
	const configuration = await api(page, `templates/${templates[0].id}/clone`, { name: "pages-configuration" });
	return {
		start: ["", "Choose a question"],
		simulations: ["simulations", /\d+ loaded/],
		submit: ["simulations/new?ranks=256&subscription=4:1", /Held while it runs|An equal run/],
		run: [`simulations/${a}`, "Accuracy:"],
		timeline: [`simulations/${a}?view=timeline`, "Collectives"],
		spans: [`simulations/${a}?view=timeline&density=spans`, /spans in .* rows/],
		fabric: [`simulations/${a}?view=fabric`, /256 network interfaces/],
		path: [`simulations/${a}?view=path`, "Longest steps"],
		files: [`simulations/${a}?view=files`, "receipt.json"],
		logs: [`simulations/${a}?view=logs`, "At least"],
		compare: [`compare?runs=${a},${b}`, "Only what differs"],
		studies: ["studies", /\d+ loaded/],
		study: [`studies/${study.id}`, "What each axis changes"],
		configurations: ["configurations", /\d+ loaded/],
		configuration: [`configurations/${configuration.id}?component=nic`, "Mbps to 10 Tbps"],
		versions: [`configurations/${configuration.id}?view=versions`, "There is one version"],
		inputs: [`configurations/${configuration.id}?view=run`, "What runs on it"],
		templates: ["templates", /\d+ loaded/],
		template: [`templates/${templates[0].id}?component=spine`, "What it is made of"],
		tracesets: ["tracesets", /\d+ loaded/],
		traceset: [`tracesets/${items[0].id}`, "What it contains"],
		mappings: ["mapping-files", "This workspace has no mapping files"],
		upload: ["upload?kind=traceset", "Drop the files here"],
		bills: ["bills", "Rates on"],
		verify: ["bills/verify", "A bundle is one file"],
		newStudy: ["studies/new?ranks=256", "Held while they run, at most"],
		studyOfConfiguration: [`studies/new?configuration=${configuration.id}&method=sample&samples=2`, "Held while they run, at most"],
		streams: ["streams", "Id of a stream or of a request"],
		stream: [`streams/${a}`, "netsim.simulation.completed"],
		causes: [`causes/${facts[0].correlationId}`, "netsim.billing.usage_recorded"],
		webhooks: ["webhooks", "nightly"],
		webhook: [`webhooks/${webhook.id}`, /answered|no answer/],
		missing: ["nowhere", "No such page"],
	};
}

/** The places in lists at which rows leave a hole, lie over each other, or do not fill their box. */
async function holes(page: Page): Promise<string[]> {
	return page.evaluate(() =>
		[...document.querySelectorAll(".list .scroll")].flatMap((box) => {
			const { top, bottom } = box.getBoundingClientRect();
			const rows = [...box.querySelectorAll('[role="row"]')].map((row) => row.getBoundingClientRect()).sort((a, b) => a.top - b.top);
			const wrong = rows.flatMap((row, i) =>
				i > 0 && Math.abs(row.top - (rows[i - 1] as DOMRect).bottom) > 1.5 ? [`row ${i} begins ${row.top - (rows[i - 1] as DOMRect).bottom} px below the one before`] : [],
			);
			const end = Math.min(bottom, top + (box.firstElementChild as HTMLElement).offsetHeight);
			const last = rows.at(-1)?.bottom ?? top;
			return [...wrong, ...(last < end - 2 ? [`the last ${end - last} px have no row`] : [])];
		}),
	);
}

/** Texts that lie over each other, and numbers and words that break within. Names and ids may break. */
async function unreadable(page: Page): Promise<string[]> {
	return page.evaluate(() => {
		const wrong: string[] = [];
		const seen: { text: string; parent: Element; rect: DOMRect }[] = [];
		const walk = document.createTreeWalker(document.querySelector("main") as Element, NodeFilter.SHOW_TEXT);
		for (let node = walk.nextNode(); node; node = walk.nextNode()) {
			const parent = node.parentElement as Element;
			const text = node.textContent ?? "";
			if (!text.trim() || !parent.checkVisibility({ visibilityProperty: true }) || parent.closest("pre, select, title")) continue;
			const range = document.createRange();
			if (!parent.closest("code, .log, .causes, .name, .changes, td > bdi")) {
				for (const part of text.matchAll(/(?<![\w.-])([−-]?\d[\d.\u2009\u202f]*|\p{L}{2,16})(?![\w-])/gu)) {
					range.setStart(node, part.index);
					range.setEnd(node, part.index + part[0].length);
					if (new Set([...range.getClientRects()].map((rect) => Math.round(rect.top))).size > 1) wrong.push(`"${part[0]}" breaks`);
				}
			}
			range.selectNodeContents(node);
			const boxes: DOMRect[] = [];
			for (let box: Element | null = parent; box && box !== document.body; box = box.parentElement) {
				if (getComputedStyle(box).overflowX !== "visible") boxes.push(box.getBoundingClientRect());
			}
			for (const rect of range.getClientRects()) {
				const left = Math.max(rect.left, ...boxes.map((box) => box.left));
				const right = Math.min(rect.right, ...boxes.map((box) => box.right));
				const top = Math.max(rect.top, ...boxes.map((box) => box.top));
				const bottom = Math.min(rect.bottom, ...boxes.map((box) => box.bottom));
				if (right > left && bottom > top) seen.push({ text: text.trim().slice(0, 40), parent, rect: new DOMRect(left, top, right - left, bottom - top) });
			}
		}
		for (const [at, a] of seen.entries()) {
			for (const b of seen.slice(at + 1)) {
				const across = Math.min(a.rect.right, b.rect.right) - Math.max(a.rect.left, b.rect.left);
				const down = Math.min(a.rect.bottom, b.rect.bottom) - Math.max(a.rect.top, b.rect.top);
				if (across > 2 && down > 6 && a.parent !== b.parent) wrong.push(`"${a.text}" lies over "${b.text}"`);
			}
		}
		return [...new Set(wrong)];
	});
}

/** Looks at pages in light and dark, wide and narrow. */
async function look(page: Page, all: Record<string, [string, RegExp | string]>): Promise<void> {
	for (const [name, [address, shows]] of Object.entries(all)) {
		if (process.env.ONLY && !process.env.ONLY.split(",").includes(name)) continue;
		for (const colorScheme of ["light", "dark"] as const) {
			for (const [size, viewport] of Object.entries(sizes)) {
				await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
				await page.setViewportSize(viewport);
				await page.goto(address);
				await expect(page.getByText(shows).first()).toBeVisible();
				await accessible(page);
				expect.soft(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), `${name} ${size}`).toBeLessThanOrEqual(0);
				expect.soft(await unreadable(page), `texts of ${name} ${size}`).toEqual([]);
				expect.soft(await holes(page), `lists of ${name} ${size}`).toEqual([]);
				await page.screenshot({ path: `../.cache/journeys/pages/${name}-${colorScheme}-${size}.png`, fullPage: true });
			}
		}
	}
}

test("every page, in light and dark, wide and narrow", async ({ page }) => {
	test.setTimeout(600_000);
	await page.goto("");
	await expect(page.getByRole("heading", { name: "Log in" })).toBeVisible();
	await accessible(page);
	await login(page, "biller");
	await look(page, await addresses(page));
});

test("every page of the machine room", async ({ page }) => {
	test.setTimeout(300_000);
	await page.goto("");
	await login(page, "operator");
	await look(page, {
		machine: ["machine", "Streams by family"],
		parked: ["machine?view=parked", "Nothing is parked"],
		reactions: ["machine?view=letters", "Handlers"],
		work: ["machine?view=work", /of any account|of all accounts/],
		deployment: ["machine?view=deployment", "Records that it covers"],
		acts: ["machine?view=acts", /changed nothing|succeeded/],
	});
});

test("the two pictures of the README, which are kept in docs/pictures", async ({ page }) => {
	await page.setViewportSize({ width: 960, height: 660 });
	await page.goto("");
	await login(page);
	const allToAll = { operationType: "allToAll", dataSize: 4194304 };
	const { simulationId } = await api(page, "simple/simulations", { name: "allToAll-512", workload: { ranks: 512, phases: [allToAll] }, topologyConstraints: { subscriptionRatio: "4:1" } });
	await completed(page, `simulations/${simulationId}`);
	await page.goto(`simulations/${simulationId}?view=fabric`);
	await expect(page.locator("[data-frame]")).toBeVisible();
	await page.screenshot({ path: "../.cache/journeys/pages/console-fabric.png" });

	const study = await api(page, "studies", {
		name: "which-fabric",
		base: { simple: { workload: { ranks: 256, phases: [allToAll] } } },
		axes: [
			{ field: "topologyConstraints.subscriptionRatio", values: ["1:1", "2:1", "4:1"] },
			{ field: "topologyConstraints.switchRadix", values: ["64x800G", "128x400G"] },
		],
	});
	await completed(page, `studies/${study.id}`);
	await page.setViewportSize({ width: 960, height: 700 });
	await page.goto(`studies/${study.id}?point=1`);
	await expect(page.getByText("Point 1:").first()).toBeVisible();
	await page.screenshot({ path: "../.cache/journeys/pages/console-study.png" });
});
