import { expect, test } from "vitest";
import { ago, Clock, measured } from "./clock";

const date = "Thu, 26 Nov 2026 02:00:00 GMT";
const at = Date.parse(date);

test("the time is the server's, however wrong the browser's is", () => {
	let page = 1000;
	const clock = new Clock(() => page);
	expect(clock.now()).toBeNaN();
	clock.observe(date);
	page += 90_000;
	expect(clock.now()).toBe(at + 90_000);
	expect(ago("2026-11-26T02:00:00.000Z", clock.now())).toBe("1 min ago");
	expect(ago("2026-12-03T03:00:00.000Z", clock.now())).toMatch(/^in 7 d/);
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

test("what was measured is in milliseconds below 10 s", () => {
	expect(measured(0.955)).toBe("955 ms");
	expect(measured(9.1234)).toBe("9\u202f123 ms");
	expect(measured(12.9)).toBe("12 s");
});
