import { expect, test } from "vitest";
import { Digits, exact, parse, write } from "./json";

test("2^63-1 keeps its digits", () => {
	expect(parse('{"a":9223372036854775807,"b":[-9223372036854775808,9007199254740991]}')).toEqual({
		a: 9223372036854775807n,
		b: [-9223372036854775808n, 9007199254740991],
	});
});

test("an amount of 30 digits keeps its digits, as text and as a number", () => {
	const amount = "123456789012.345678901234567890";
	expect(parse(`{"text":"${amount}","number":${amount}}`)).toEqual({ text: amount, number: amount });
});

test("digits in strings stay strings", () => {
	const value = { 'a"\\12345678901234567890': 'x 12345678901234567890, "99999999999999999999" \\' };
	expect(parse(JSON.stringify(value))).toEqual(value);
});

test("numbers that a double holds stay numbers", () => {
	expect(parse('[0.1,1e21,0.000000000000000125,-0,12345678901234567890,"1234567890123456"]')).toEqual([0.1, 1e21, 0.000000000000000125, -0, 12345678901234567890n, "1234567890123456"]);
});

test("a double of the service stays a number, with as many digits as it is written", () => {
	// Seconds since a start, as Go writes them. As text they would be no number for the page.
	for (const double of ["719.1234567890001", "0.30000000000000004", "-434.99999999999994"]) expect(parse(`[${double}]`)).toEqual([Number(double)]);
	expect(parse("[719.12345678900010]")).toEqual(["719.12345678900010"]);
});

test("text that is no JSON is refused", () => {
	expect(() => parse("1234567890123456789 x")).toThrow(SyntaxError);
});

test("what is read exactly is written as it came", () => {
	const text = '{"a":9223372036854775807,"b":[0.100000000000000000000000000001,1.50,1e-06,7],"c":"x 1.50 \\"1.50\\"","d":-0}';
	expect(write(exact(text))).toBe(text);
	expect(String((exact('{"a":9223372036854775807}') as { a: unknown }).a)).toBe("9223372036854775807");
});

test("bigints are written with all digits, and texts of digits stay texts", () => {
	expect(write({ a: 9223372036854775807n, b: "9223372036854775807", c: new Digits("0.10") })).toBe('{"a":9223372036854775807,"b":"9223372036854775807","c":0.10}');
});
