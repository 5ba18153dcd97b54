import { expect, test } from "vitest";
import { type Kept, matched, readKept, roleOf, storedName, writeKept } from "./kept";
import { partCount, partSize } from "./send";

function storage() {
	const items = new Map<string, string>();
	return { getItem: (key: string) => items.get(key) ?? null, setItem: (key: string, value: string) => void items.set(key, value), removeItem: (key: string) => void items.delete(key), items };
}

const kept: Kept = {
	kind: "traceset",
	key: "k",
	uploadId: "upload_1",
	expiresAt: "2026-11-22T08:30:00.125Z",
	title: "ring",
	files: [{ local: "a b.0.et", name: "a-b.0.et", size: 3, etags: [], digest: "" }],
};

test("an upload is kept until its session is over, and what cannot be read is removed", () => {
	const place = storage();
	writeKept(place, "s", kept);
	expect(readKept(place, "s", Date.parse("2026-11-22T08:00:00Z"))).toEqual(kept);
	expect(readKept(place, "s", Date.parse("2026-11-22T09:00:00Z"))).toBeUndefined();
	expect(place.items.size).toBe(0);
	place.setItem("s", "{");
	expect(readKept(place, "s", 0)).toBeUndefined();
});

test("files are known again by name and size", () => {
	expect(matched(kept, [new File(["abc"], "a b.0.et")]).missing).toEqual([]);
	expect(matched(kept, [new File(["ab"], "a b.0.et")]).missing).toEqual(["a b.0.et"]);
});

test("names of files become names that the service takes", () => {
	const takes = /^\.?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?$/;
	for (const name of ["a b.0.et", "<img src=x>.et", "עברית.0.et", "..", "...", "a..b", "x".repeat(300), "a/b", ""]) expect(storedName(name), name).toMatch(takes);
	expect(["r.0.et", "rank_3.chakra.json.zst", "all.tar.gz", "all.tgz", "notes.bin"].map(roleOf)).toEqual(["primary", "primary", "primary", "primary", "supporting"]);
});

test("a file has at least one part", () => {
	expect([0, 1, partSize, partSize + 1].map(partCount)).toEqual([1, 1, 1, 2]);
});
