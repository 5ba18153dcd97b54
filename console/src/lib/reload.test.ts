import { expect, test } from "vitest";
import { mayReload } from "./reload";

test("a tab reloads once", () => {
	const kept = new Map<string, string>();
	const storage = { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => void kept.set(key, value) };
	expect(mayReload(storage, 1_000_000)).toBe(true);
	expect(mayReload(storage, 1_001_000)).toBe(false);
	expect(mayReload(storage, 1_020_000)).toBe(true);
});
