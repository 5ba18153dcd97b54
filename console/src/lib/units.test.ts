import { expect, test } from "vitest";
import { bitRate, bytes, change, count, micro, percent, picoseconds, readBytes, rounded, spaced } from "./units";

test("all digits of a time stay", () => {
	expect(picoseconds(0)).toBe("0 ps");
	expect(picoseconds(1_234_567)).toBe("1.234567 µs");
	expect(picoseconds(2_500_000_000)).toBe("2.5 ms");
	expect(picoseconds(9223372036854775807n)).toBe("9\u2009223\u2009372.036854775807 s");
});

test("rates and counts", () => {
	expect(bitRate(400_000_000_000)).toBe("400 Gbit/s");
	expect(count(9223372036854775807n)).toBe("9\u2009223\u2009372\u2009036\u2009854\u2009775\u2009807");
});

test("bytes are binary where they are whole", () => {
	expect(bytes(1048576)).toBe("1 MiB");
	expect(bytes(1048577)).toBe("1\u2009048\u2009577 B");
});

test("sizes are read exactly, or not at all", () => {
	expect(readBytes("1 MiB")).toBe(1048576);
	expect(readBytes("1.5KiB")).toBe(1536);
	expect(readBytes("10 MB")).toBe(10_000_000);
	expect(readBytes("64")).toBe(64);
	expect(readBytes("0.3 B")).toBeUndefined();
	expect(readBytes("many")).toBeUndefined();
});

test("words", () => {
	expect(change(100, 150)).toBe("+50.0 %");
	expect(change(100, 100)).toBe("equal");
	expect(percent(0.256789)).toBe("25.6789 %");
	expect(spaced("2.5us")).toBe("2.5 µs");
});

test("figures for people have some digits, and digits before the point stay", () => {
	expect(rounded("96.484469622409 Tbit/s", 4)).toBe("96.48 Tbit/s");
	expect(rounded("× 2.647600065601112 on average", 3)).toBe("× 2.65 on average");
	expect(rounded("0.00012345 %", 3)).toBe("0.000123 %");
	expect(rounded("1\u2009234.56 s", 3)).toBe("1\u2009235 s");
	expect(rounded("9.9996 µs", 4)).toBe("10 µs");
	expect(rounded("130\u2009560", 3)).toBe("130\u2009560");
	expect(rounded("0.0 %", 3)).toBe("0 %");
});

test("sentences of the API have the sign of microseconds", () => {
	expect(micro("took 303.1 us: of us, 5us")).toBe("took 303.1 µs: of us, 5µs");
});
