import type { CauseNode } from "../api/contract";

/** A node with those that follow from it. */
export type Tree = { node: CauseNode; next: Tree[] };

/**
 * The trees of nodes. A node can come before its parent; one whose parent is not there, because
 * it is hidden or on a later page, begins a tree.
 */
export function trees(nodes: CauseNode[]): Tree[] {
	const all = new Map(nodes.map((node) => [node.id, { node, next: [] } as Tree]));
	const roots: Tree[] = [];
	for (const tree of all.values()) {
		const parent = tree.node.parentId === undefined ? undefined : all.get(tree.node.parentId);
		if (parent && parent !== tree) parent.next.push(tree);
		else roots.push(tree);
	}
	return roots;
}

/**
 * A tree as a chain, and what branches off at each of its nodes: of those that follow, the chain
 * goes on with the one in the same stream. So the facts of one stream stand below each other.
 */
export function chain(tree: Tree): { node: CauseNode; branches: Tree[] }[] {
	const links: { node: CauseNode; branches: Tree[] }[] = [];
	for (let at: Tree | undefined = tree; at; ) {
		const { node, next: all }: Tree = at;
		const next: Tree | undefined = all.find((one) => one.node.stream === node.stream) ?? (all.length === 1 ? all[0] : undefined);
		links.push({ node, branches: all.filter((one) => one !== next) });
		at = next;
	}
	return links;
}
