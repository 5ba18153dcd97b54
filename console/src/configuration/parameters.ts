import { Digits } from "../api/json";

/** A parameter, with what its model says of it where the tree has that. */
export type Leaf = {
	value: unknown;
	type: string;
	unit?: string;
	default?: string;
	defaultUnit?: string;
	description?: string;
	min?: Bound;
	max?: Bound;
	enum?: unknown[];
	readonly?: boolean;
	group?: string;
	/** Whether the contract refuses what is not within the bounds. Of parameters validation reports it. */
	strict?: boolean;
};
type Bound = { value: unknown; unit?: string };
type Branch = { [name: string]: unknown };

/** What a person wrote for a parameter. It is text until it is sent. That of an entity that is not saved yet has the type that its model says. */
export type Edit = { value: string; unit?: string; type?: string };

const numbers = new Set(["uint", "double", "bytes", "datarate", "timeval"]);

export const units: Record<string, readonly string[]> = {
	bytes: ["B"],
	datarate: ["bps", "Kbps", "Mbps", "Gbps", "Tbps"],
	timeval: ["ns", "us", "ms", "s"],
};

function isBranch(node: unknown): node is Branch {
	return typeof node === "object" && node !== null && !Array.isArray(node) && !(node instanceof Digits);
}

export function isLeaf(node: unknown): node is Leaf {
	return isBranch(node) && "value" in node && typeof node.type === "string";
}

/** The parameters of a tree in its order, each with its path. */
export function leaves(tree: unknown, path: string[] = []): { path: string[]; leaf: Leaf }[] {
	if (isLeaf(tree)) return [{ path, leaf: tree }];
	if (!isBranch(tree)) return [];
	return Object.entries(tree).flatMap(([name, node]) => leaves(node, [...path, name]));
}

/** The parameter at a path of a tree, if there is one. */
export function at(tree: unknown, path: string[]): Leaf | undefined {
	const node = path.reduce<unknown>((inner, name) => (isBranch(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined), tree);
	return isLeaf(node) ? node : undefined;
}

/** The tree with another value, and perhaps unit, at a path. Parameters keep their type. One that the tree does not have is added if the edit says its type. */
export function replaced(tree: unknown, path: string[], edit: Edit): unknown {
	const [name, ...rest] = path;
	const { type } = edit;
	if (name !== undefined) {
		const branch = tree === undefined && type !== undefined ? {} : tree;
		return isBranch(branch) ? { ...branch, [name]: replaced(branch[name], rest, edit) } : tree;
	}
	if (tree === undefined && type !== undefined) return { value: sent(type, edit.value), type, ...(edit.unit !== undefined && { unit: edit.unit }) };
	if (!isLeaf(tree)) return tree;
	return { ...tree, value: sent(tree.type, edit.value), ...(edit.unit !== undefined && { unit: edit.unit }) };
}

/** What is sent for the text of a parameter. A number is its digits, and never a double. */
function sent(type: string, text: string): unknown {
	if (type === "bool") return text === "true";
	return numbers.has(type) ? new Digits(text.trim()) : text;
}

/** Why a text is no value of the leaf, or nothing. Bounds are for the service to judge, except strict ones. */
export function wrong(leaf: Pick<Leaf, "type" | "min" | "max" | "strict">, text: string): string | undefined {
	const { type, min, max } = leaf;
	if (!numbers.has(type)) return undefined;
	// A number of JSON: no leading zeros, no plus, a digit on both sides of the point.
	if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text.trim())) return "This is no number.";
	if (type === "uint" && !/^\d+$/.test(text.trim())) return "Write a whole number from 0.";
	if (leaf.strict && (Number(text) < Number(min?.value) || Number(text) > Number(max?.value))) return `Write a number: ${boundsText(leaf)}.`;
	return undefined;
}

/** What the service stores of a number that its type cannot hold, or nothing. Only the type double is one. */
export function rounded(type: string, text: string): string | undefined {
	if (type !== "double" || wrong({ type }, text)) return undefined;
	const digits = (number: string) => number.replace(/[eE].*|[-.]/g, "").replace(/^0+|0+$/g, "");
	const stored = String(Number(text));
	return digits(stored) === digits(text.trim()) ? undefined : stored;
}

/** A parameter as text, with its unit and all its digits. */
export function leafText(leaf: Leaf): string {
	return leaf.unit ? `${String(leaf.value)} ${leaf.unit}` : String(leaf.value);
}

export function editText(edit: Edit): string {
	return edit.unit ? `${edit.value.trim()} ${edit.unit}` : edit.value.trim();
}

/** What the model allows, in words. */
export function boundsText({ min, max, enum: choices, readonly }: Partial<Leaf>): string {
	const bound = (text: Bound) => (text.unit ? `${String(text.value)} ${text.unit}` : String(text.value));
	if (readonly) return "set by the service";
	if (choices) return choices.map(String).join(", ");
	if (min && max) return `${bound(min)} to ${bound(max)}`;
	if (min) return `at least ${bound(min)}`;
	return max ? `at most ${bound(max)}` : "";
}

/** A tree with values, types and units only, as a configuration has it. */
export function plain(tree: unknown): unknown {
	if (isLeaf(tree)) return { value: tree.value, type: tree.type, ...(tree.unit !== undefined && { unit: tree.unit }) };
	if (!isBranch(tree)) return tree;
	return Object.fromEntries(Object.entries(tree).map(([name, node]) => [name, plain(node)]));
}
