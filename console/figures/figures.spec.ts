import { appendFileSync, writeFileSync } from "node:fs";
import type { APIRequestContext, Page } from "@playwright/test";
import { api, completed, expect, login, loginAs, test } from "../journeys/journey";
import { netsim, setting } from "../journeys/shell";

// Figures of the console in a browser without a graphics processor, for "make bench
// BENCH='-only console'". Each is a line of JSON in the file that NETSIM_FIGURES names.
const file = process.env.NETSIM_FIGURES as string;
const bundle = process.env.NETSIM_BUNDLE as string;

test.setTimeout(600_000);
test.beforeAll(() => writeFileSync(file, ""));

function figure(name: string, value: number, unit: string, target: string): void {
	appendFileSync(file, `${JSON.stringify({ name: `console, ${name}`, value, unit, reach: target })}\n`);
}

function quantile(values: number[], part: number): number {
	return values.toSorted((a, b) => a - b)[Math.min(Math.floor(values.length * part), values.length - 1)] as number;
}

async function run(page: Page, name: string, ranks: number, phase: object): Promise<string> {
	const { simulationId } = await api(page, "simple/simulations", { name, workload: { ranks, phases: [phase] } });
	await completed(page, `simulations/${simulationId}`, 300_000);
	return simulationId;
}

/** The milliseconds of the frames that keys ask for, one after the other, as the worker that draws them measures. */
async function frames(page: Page, keys: string[]): Promise<number[]> {
	const status = page.locator("[data-frame]");
	const application = page.getByRole("application");
	await expect(status).toBeVisible();
	await application.focus();
	const all: number[] = [];
	for (const key of keys) {
		const before = await status.getAttribute("data-frame");
		await application.press(key);
		await expect(status).not.toHaveAttribute("data-frame", before ?? "");
		all.push(Number(await status.getAttribute("data-milliseconds")));
	}
	return all;
}

const zooms = [...Array(25).fill("+"), ...Array(25).fill("ArrowRight"), ...Array(25).fill("ArrowLeft"), ...Array(25).fill("-")];

/**
 * The memory of the service after a garbage collection, in MB of 10^6 bytes: what the system
 * counts, of which the free pages that Go has yet to return to it, and what Go's heap holds.
 */
async function memory(request: APIRequestContext): Promise<{ resident: number; free: number; heap: number }> {
	const operations = `http://${setting("NETSIM_OPS")}`;
	for (let collections = 0; collections < 2; collections++) {
		// The second one empties Go's pools.
		expect((await request.get(`${operations}/debug/pprof/heap?gc=1`)).ok()).toBe(true);
	}
	const metrics = await (await request.get(`${operations}/metrics`)).text();
	const read = (name: string) => {
		const [, value] = metrics.match(new RegExp(`^${name} (\\S+)$`, "m")) ?? [];
		expect(value, name).toBeDefined();
		return Number(value) / 1e6;
	};
	const free = read("go_memstats_heap_idle_bytes") - read("go_memstats_heap_released_bytes");
	return { resident: read("process_resident_memory_bytes"), free, heap: read("go_memstats_heap_alloc_bytes") };
}

// It is the first, because what the service did before is in its memory.
test("memory of the service", async ({ browser, request }) => {
	const sessions = 20;
	const at = `${process.env.NETSIM_CONSOLE}/api/v1`;
	const headers = { Authorization: `Bearer ${netsim("token")}` };
	const workload = { ranks: 16, phases: [{ operationType: "allReduce", dataSize: 1048576 }] };
	const reply = await request.post(`${at}/simple/simulations`, { headers, data: { name: "figures-memory", workload } });
	expect(reply.ok(), await reply.text()).toBe(true);
	const { simulationId } = await reply.json();
	// The run has ended, with its memory.
	await expect.poll(async () => (await (await request.get(`${at}/simulations/${simulationId}`, { headers })).json()).status, { timeout: 60_000 }).toBe("completed");
	const before = await memory(request);
	const open = [];
	for (let i = 0; i < sessions; i++) {
		const context = await browser.newContext();
		open.push(context);
		const page = await context.newPage();
		await page.goto("");
		await loginAs(page, `figures-${i}`);
		for (const view of ["", "?view=fabric", "?view=logs"]) {
			await page.goto(`simulations/${simulationId}${view}`);
			await expect(page.getByRole("heading", { level: 1, name: "figures-memory" })).toBeVisible();
		}
		await page.goto("simulations");
		await expect(page.getByRole("link", { name: "figures-memory" }).first()).toBeVisible();
	}
	const after = await memory(request);
	await Promise.all(open.map((context) => context.close())); // their pages would take time from the figures below
	figure("resident memory of the service before a session", before.resident, " MB", "");
	figure(`resident memory that ${sessions} sessions with open pages add`, after.resident - after.free - before.resident + before.free, " MB", "at most 10 MB");
	figure("free memory that they add, until Go returns it", after.free - before.free, " MB", "");
	figure("heap of the service before a session, after a garbage collection", before.heap, " MB", "");
	figure(`heap that ${sessions} sessions with open pages add`, after.heap - before.heap, " MB", "at most 10 MB");
});

test("first list", async ({ page }) => {
	await page.goto("simulations");
	await login(page);
	await run(page, "figures-list", 8, { operationType: "allReduce", dataSize: 1024 });
	// From the end of the document's reply until the first row is painted.
	await page.addInitScript(() => {
		const look = () => {
			if (!document.querySelector('[role="row"][aria-rowindex="2"]')) return requestAnimationFrame(look);
			requestAnimationFrame(() => Object.assign(window, { painted: performance.now() }));
		};
		requestAnimationFrame(look);
	});
	const times: number[] = [];
	for (let i = 0; i < 20; i++) {
		await page.goto("simulations");
		const painted = await page.waitForFunction(() => (window as { painted?: number }).painted);
		const replied = await page.evaluate(() => (performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming).responseEnd);
		times.push(Number(await painted.jsonValue()) - replied);
	}
	figure("first list painted after the document, median of 20", quantile(times, 0.5), " ms", "at most 300 ms");
});

test("the fabric of 4,096 hosts", async ({ page }) => {
	await page.goto("");
	await login(page);
	const id = await run(page, "figures-fabric", 4096, { operationType: "allReduce", algorithm: "recursiveHalvingDoubling", dataSize: 4194304 });
	await page.goto(`simulations/${id}?view=fabric`);
	await expect(page.getByText(/4.096 network interfaces/)).toBeVisible();
	figure("a frame zooming 4,096 hosts, p95 of 100", quantile(await frames(page, zooms), 0.95), " ms", "at most 16 ms");
});

test("a million spans", async ({ page }) => {
	await page.goto("");
	await login(page);
	const id = await run(page, "figures-spans", 1024, { operationType: "allReduce", algorithm: "ring", dataSize: 1048576 });
	const began = performance.now();
	await page.goto(`simulations/${id}?view=timeline&density=spans`);
	const loaded = page.getByText(/spans in .* rows/);
	await expect(loaded).toBeVisible({ timeout: 120_000 });
	figure("every span loaded, its trace made by the service", performance.now() - began, " ms", "");
	const spans = Number(((await loaded.textContent()) ?? "").replace(/ spans.*/, "").replace(/\D/g, ""));
	expect(spans).toBeGreaterThanOrEqual(1_000_000);
	figure("a frame zooming a million spans, p95 of 100", quantile(await frames(page, zooms), 0.95), " ms", "at most 16 ms");
});

test("100,000 rows", async ({ page }) => {
	// The replies are made in the page: the subject is the list.
	await page.addInitScript(() => {
		const pages = 1000;
		const { fetch } = window;
		window.fetch = async (asked, options) => {
			const url = new URL(String(asked), location.href);
			if (!url.pathname.endsWith("/simulations")) return fetch(asked, options);
			const number = Number(url.searchParams.get("cursor") ?? 0);
			const simulations = Array.from({ length: 100 }, (_row, i) => {
				const name = String(number * 100 + i);
				return { id: `sim_01kahcfv4ge3brkm7${name.padStart(9, "0")}`, name: `run ${name}`, status: "completed", createdAt: "2026-11-21T08:30:00.125Z" };
			});
			const pagination = { count: 100, hasMore: number + 1 < pages, ...(number + 1 < pages && { nextCursor: String(number + 1) }) };
			return new Response(JSON.stringify({ simulations, pagination }), { headers: { "Content-Type": "application/json" } });
		};
	});
	await page.goto("simulations");
	await login(page);
	const seen = await page.evaluate(async () => {
		const frame = () => new Promise<number>((done) => requestAnimationFrame(done));
		const wait = async <T>(look: () => T | null | undefined | false): Promise<T> => {
			for (;;) {
				const found = look();
				if (found) return found;
				await frame();
			}
		};
		const scroller = await wait(() => document.querySelector('.list[data-of="Simulations"] .scroll'));
		const began = performance.now();
		const loaded = () => document.querySelector(".list > [role=status]")?.textContent ?? "";
		while (!/^100000 loaded(?!, more)/.test(loaded())) {
			scroller.scrollTop = scroller.scrollHeight;
			await frame();
		}
		const seconds = (performance.now() - began) / 1000;
		/** Pixels of the view that no row covers. */
		const gap = () => {
			const box = scroller.getBoundingClientRect();
			let [top, bottom] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
			for (const row of scroller.querySelectorAll('[role="row"]')) {
				const { top: from, bottom: to } = row.getBoundingClientRect();
				top = Math.min(top, from);
				bottom = Math.max(bottom, to);
			}
			return Math.max(top - box.top, box.bottom - 1 - bottom, 0);
		};
		const times: number[] = [];
		let gaps = 0;
		const step = (scroller.scrollHeight - scroller.clientHeight) / 300;
		for (let at = 0; at <= 300; at++) {
			const before = await frame();
			scroller.scrollTop = at * step;
			await frame();
			times.push((await frame()) - before);
			if (gap() > 1) gaps++;
		}
		return { seconds, gaps, times };
	});
	figure("100,000 rows loaded in pages of 100", seen.seconds, " s", "");
	figure("frames with a gap in 301 jumps through 100,000 rows", seen.gaps, "", "none");
	figure("two frames after a jump in 100,000 rows, p95", quantile(seen.times, 0.95), " ms", "");
});

test("a bundle of 10,000 events", async ({ page }) => {
	await page.goto("bills/verify");
	await login(page);
	const times: number[] = [];
	for (let i = 0; i < 5; i++) {
		await page.reload();
		const began = performance.now();
		await page.getByLabel("Drop a bundle here, or choose its file").setInputFiles(bundle);
		await expect(page.getByRole("region", { name: "Verdict" })).toContainText("10000 events", { timeout: 60_000 });
		times.push(performance.now() - began);
	}
	figure("a bundle of 10,000 events verified, median of 5", quantile(times, 0.5), " ms", "at most 2 s");
});
