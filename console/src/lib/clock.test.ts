import { expect, test } from "vitest";
import { ago, Clock, lasting } from "./clock";

const date = "Thu, 26 Nov 2026 02:00:00 GMT";
const at = Date.parse(date);

test("the time is the server's, however wrong the browser's is", () => {
	let page = 1000;
	const clock = new Clock(() => page);
	expect(clock.now()).toBeNaN();
	clock.observe(date);
	page += 90_000;
	expect(clock.now()).toBe(at + 90_000);
	expect(ago("2026-11-26T02:00:00.000Z", clock.now())).toBe("1\u00a0min ago");
	expect(ago("2026-12-03T03:00:00.000Z", clock.now())).toBe("in 7\u00a0days");
});

test("the whole seconds of the header do not turn the clock back", () => {
	let page = 0;
	const clock = new Clock(() => page);
	clock.observe(date);
	page = 900;
	clock.observe(date);
	expect(clock.now()).toBe(at + 900);
	clock.observe("Thu, 26 Nov 2026 03:00:00 GMT");
	expect(clock.now()).toBe(at + 3_600_000);
});

test("a header that is no date counts nothing", () => {
	const clock = new Clock(() => 0);
	clock.observe(null);
	clock.observe("soon");
	expect(clock.now()).toBeNaN();
	expect(ago("2026-11-26T02:00:00.000Z", clock.now())).toBe("2026-11-26T02:00:00.000Z");
});

test("how long something takes is to three digits below a minute, and then in two units", () => {
	const all = [0, 0.0000123, 0.955, 0.9996, 9.1234, 12.96, 59.94, 59.97, 60, 200.4, 3599.6, 3600, 7260, 172_799, 172_800, 200_000, 8_640_000];
	expect(all.map((seconds) => lasting(seconds).replaceAll("\u00a0", " "))).toEqual([
		"0 s",
		"0.0123 ms",
		"955 ms",
		"1 s",
		"9.12 s",
		"13 s",
		"59.9 s",
		"1 min",
		"1 min",
		"3 min 20 s",
		"1 h",
		"1 h",
		"2 h 1 min",
		"47 h 59 min",
		"2 days",
		"2 days 7 h",
		"100 days",
	]);
	for (const seconds of all) expect(lasting(seconds)).toMatch(/^(?:[\d.]+\u00a0[a-z]+ ?)+$/);
});

test("when something was is in the largest unit only", () => {
	const back = (seconds: number) => ago(date, at + seconds * 1000).replaceAll("\u00a0", " ");
	expect([3, 12, 80, 7300, 200_000].map(back)).toEqual(["just now", "12 s ago", "1 min ago", "2 h ago", "2 days ago"]);
});
