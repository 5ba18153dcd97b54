import { expect, test } from "vitest";
import { compare, grouped, share, short, sum } from "./decimal";

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
	expect(grouped("-1234567.123456789012345678")).toBe("-1\u202f234\u202f567.123456789012345678");
	expect(grouped("999")).toBe("999");
});

test("a short amount says what it is, and that it is not all", () => {
	expect(short("1234.567890123456789012")).toBe("≈\u00a01\u202f234.57");
	expect(short("0.041666666666666667")).toBe("≈\u00a00.04167");
	expect(short("0.000001")).toBe("0.000001");
	expect(short("0.000000000000123456")).toBe("≈\u00a00.0000000000001235");
	expect(short("-0.000001")).toBe("-0.000001");
	expect(short("-12.345678")).toBe("≈\u00a0-12.35");
	expect(short("0.999999")).toBe("≈\u00a01");
	expect(short("99.999999")).toBe("≈\u00a0100");
	expect(short("12.500000")).toBe("12.5");
	expect(short("0.00")).toBe("0.00");
	expect(short("10")).toBe("10");
});

test("a share is of the whole", () => {
	expect(share("1", "4")).toBe(0.25);
	expect(share("1", "0")).toBe(0);
});

test("what is no decimal is refused", () => {
	expect(() => sum(["1e3"])).toThrow("'1e3' is not a decimal number");
});
