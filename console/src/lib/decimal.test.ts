import { expect, test } from "vitest";
import { compare, grouped, share, sum } from "./decimal";

test("amounts of 30 digits are added exactly", () => {
	expect(sum(["123456789012.345678901234567891", "0.000000000000000009", "-0.1"])).toBe("123456789012.2456789012345679");
	expect(sum([])).toBe("0");
	expect(sum(["0.5", "-0.5"])).toBe("0");
	expect(sum(["-0.000000000000000001"])).toBe("-0.000000000000000001");
});

test("amounts are ordered by all their digits", () => {
	expect(compare("100000000000000000000.1", "100000000000000000000.2")).toBe(-1);
	expect(compare("1.50", "1.5")).toBe(0);
});

test("all digits are shown", () => {
	expect(grouped("-1234567.123456789012345678")).toBe("-1\u2009234\u2009567.123456789012345678");
	expect(grouped("999")).toBe("999");
});

test("a share is of the whole", () => {
	expect(share("1", "4")).toBe(0.25);
	expect(share("1", "0")).toBe(0);
});

test("what is no decimal is refused", () => {
	expect(() => sum(["1e3"])).toThrow("'1e3' is not a decimal number");
});
