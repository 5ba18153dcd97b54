import { expect, test } from "vitest";
import { difference, written } from "./difference";

test("only members that differ, also those that came and went", () => {
	const before = { exists: true, version: 1, name: "m", gone: [1], same: { a: null } };
	const after = { exists: true, version: 2, name: "m", same: { a: null }, list: [{ id: "x" }, {}] };
	expect(difference(before, after)).toEqual([
		{ path: "version", before: "1", after: "2" },
		{ path: "list[0].id", after: '"x"' },
		{ path: "list[1]", after: "{}" },
		{ path: "gone[0]", before: "1" },
	]);
	expect(difference({}, { a: 1 })).toEqual([{ path: "a", after: "1" }]);
	expect(difference(undefined, { a: 1 })).toEqual([{ path: "a", after: "1" }]);
});

test("integers keep their digits", () => {
	expect(written({ offset: 9007199254740993n, text: "1" })).toBe('{"offset":9007199254740993,"text":"1"}');
	expect(difference({ n: 9007199254740993n }, { n: 9007199254740992n })).toHaveLength(1);
});
