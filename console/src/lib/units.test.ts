import { expect, test } from "vitest";
import { bitRate, bytes, change, count, inUnits, percent, picoseconds, readBytes, rounded, sizeText } from "./units";

test("all digits of a time stay", () => {
	expect(picoseconds(0)).toBe("0\u00a0ps");
	expect(picoseconds(1_234_567)).toBe("1.234567\u00a0µs");
	expect(picoseconds(2_500_000_000)).toBe("2.5\u00a0ms");
	expect(picoseconds(9223372036854775807n)).toBe("9\u202f223\u202f372.036854775807\u00a0s");
});

test("rates and counts", () => {
	expect(bitRate(400_000_000_000)).toBe("400\u00a0Gbit/s");
	expect(count(9223372036854775807n)).toBe("9\u202f223\u202f372\u202f036\u202f854\u202f775\u202f807");
});

test("bytes are binary where they are whole", () => {
	expect(bytes(1048576)).toBe("1\u00a0MiB");
	expect(bytes(1048577)).toBe("1\u202f048\u202f577\u00a0B");
});

test("sizes are read exactly, or not at all", () => {
	expect(readBytes("1\u00a0MiB")).toBe(1048576);
	expect(readBytes("1.5KiB")).toBe(1536);
	expect(readBytes("10 MB")).toBe(10_000_000);
	expect(readBytes("64")).toBe(64);
	expect(readBytes("0.3\u00a0B")).toBeUndefined();
	expect(readBytes("many")).toBeUndefined();
	for (const [bytes, text] of [
		[1048576, "1 MiB"],
		[1048577, "1048577 B"],
		[64, "64 B"],
	] as const) {
		expect(sizeText(bytes)).toBe(text);
		expect(readBytes(text)).toBe(bytes);
	}
});

test("words", () => {
	expect(change(100, 150)).toBe("+50.0\u00a0%");
	expect(change(100, 100)).toBe("equal");
	expect(percent(0.256789)).toBe("25.6789\u00a0%");
});

test("figures for people have some digits, and digits before the point stay", () => {
	expect(rounded("96.484469622409\u00a0Tbit/s", 4)).toBe("96.48\u00a0Tbit/s");
	expect(rounded("× 2.647600065601112 on average", 3)).toBe("× 2.65 on average");
	expect(rounded("0.00012345\u00a0%", 3)).toBe("0.000123\u00a0%");
	expect(rounded("1\u202f234.56\u00a0s", 3)).toBe("1\u202f235\u00a0s");
	expect(rounded("9.9996\u00a0µs", 4)).toBe("10\u00a0µs");
	expect(rounded("130\u202f560", 3)).toBe("130\u202f560");
	expect(rounded("0.0\u00a0%", 3)).toBe("0\u00a0%");
});

test("texts of the API have the units of the console", () => {
	expect(inUnits("took 303.1 us: of us, 5us")).toBe("took 303.1\u00a0µs: of us, 5\u00a0µs");
	expect(inUnits("9.6Tbps of 10Kbps, 18.2KB in 3 s")).toBe("9.6\u00a0Tbit/s of 10\u00a0kbit/s, 18.2\u00a0kB in 3\u00a0s");
	expect(inUnits("an allReduce of 1048576 bytes")).toBe("an allReduce of 1\u00a0MiB");
	expect(inUnits("64x800G, 3 switches, sim_1s2, 5 ms-like")).toBe("64x800G, 3 switches, sim_1s2, 5\u00a0ms-like");
});

test("no figure has a place where its line breaks", () => {
	for (const text of [picoseconds(9223372036854775807n), bitRate(1_234_567), bytes(1234567), percent(0.5), change(1, 2), count(1e9), inUnits("1.5Tbps"), rounded("1\u202f234.56\u00a0s", 3)]) {
		expect(text).not.toMatch(/[ \u2009\u200a]/);
	}
});
