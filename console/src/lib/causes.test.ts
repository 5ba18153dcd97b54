import { expect, test } from "vitest";
import type { CauseNode } from "../api/contract";
import { chain, trees } from "./causes";

const node = (id: string, stream: string, parentId?: string) => ({ id, stream, ...(parentId && { parentId }) }) as CauseNode;

test("nodes come in any order, and one without its parent begins a tree", () => {
	const found = trees([node("b", "s", "a"), node("a", "s"), node("c", "t", "b"), node("lost", "u", "hidden")]);
	expect(found.map((tree) => tree.node.id)).toEqual(["a", "lost"]);
	expect(found[0]?.next[0]?.next[0]?.node.id).toBe("c");
});

test("a chain goes on in its stream, and others branch off", () => {
	const [tree] = trees([node("1", "s"), node("bill", "account", "1"), node("2", "s", "1"), node("job", "j", "2")]);
	const links = chain(tree as NonNullable<typeof tree>);
	expect(links.map((link) => [link.node.id, link.branches.map((one) => one.node.id)])).toEqual([
		["1", ["bill"]],
		["2", []],
		["job", []],
	]);
});
