/** What is uploaded. */
export type Kind = "traceset" | "mapping-file";

/** A file of an upload: what it is called here and in the store, and what is known of its parts that are there. */
export type KeptFile = {
	local: string;
	name: string;
	size: number;
	role?: "primary" | "supporting";
	/** The ETags of the parts that the store has, from the first on. */
	etags: string[];
	/** SHA-256 of the bytes of these parts, in hex: by it the same file is known again. */
	digest: string;
};

/**
 * An upload that was begun. The links to the store are not kept: the same request under the
 * same key gives the same session again, with new links.
 */
export type Kept = {
	kind: Kind;
	key: string;
	uploadId: string;
	expiresAt: string;
	title: string;
	workspaceId?: string;
	files: KeptFile[];
};

type Storage = Pick<globalThis.Storage, "getItem" | "setItem" | "removeItem">;

/** Uploads belong to who began them, also where people share a browser. */
export function slot(kind: Kind, account: string, user: string): string {
	return `netsim.upload.${kind}.${account}.${user}`;
}

/** The upload that was begun and not completed, unless its session is over. */
export function readKept(storage: Storage, slot: string, now: number): Kept | undefined {
	try {
		const kept = JSON.parse(storage.getItem(slot) ?? "null") as Kept | null;
		if (kept && Date.parse(kept.expiresAt) > now && Array.isArray(kept.files)) return kept;
	} catch {
		// It is of another release.
	}
	storage.removeItem(slot);
	return undefined;
}

export function writeKept(storage: Storage, slot: string, kept: Kept | undefined): void {
	if (kept) storage.setItem(slot, JSON.stringify(kept));
	else storage.removeItem(slot);
}

/** The files that an upload needs, by those that were chosen. A file is known by its name and size first. */
export function matched(kept: Kept, chosen: readonly File[]): { files: File[]; missing: string[] } {
	const found = kept.files.map((file) => chosen.find((one) => one.name === file.local && one.size === file.size));
	return { files: found.filter((file) => file !== undefined), missing: kept.files.filter((_file, index) => !found[index]).map((file) => file.local) };
}

/** A name that the service takes, from that of a file. */
export function storedName(local: string): string {
	const name = local
		.replace(/[^A-Za-z0-9_.-]+/g, "-")
		.replace(/\.{2,}/g, ".")
		.slice(-255);
	return /^\.?$/.test(name) ? "file" : name;
}

/** What a file of a traceset is for: the traces of ranks, alone or in an archive, or all else. */
export function roleOf(name: string): "primary" | "supporting" {
	return /(\.et|\.chakra\.json|\.tar)(\.gz|\.zst)?$|\.t(gz|zst)$/.test(name) ? "primary" : "supporting";
}
