import { base, Refusal } from "../api/client";

/**
 * Loads a part of the console. A tab from before an upgrade asks for files below a path that is
 * gone: it reloads once, and then has the index of the new release. If that does not help
 * within ten seconds, there is an error instead of a loop. While the service is away there is one too:
 * a reload would leave nothing but the browser's own page.
 */
export function current<Part>(load: () => Promise<Part>): () => Promise<Part> {
	return async () => {
		try {
			return await load();
		} catch {
			if (!(await answers())) throw new Refusal(0, "the service cannot be reached");
			if (!mayReload(sessionStorage, Date.now())) throw new Refusal(0, "a file of the console cannot be loaded");
			location.reload();
			return new Promise(() => {}); // the page ends
		}
	};
}

/** Reloads the page if the service answers. */
export async function reload(): Promise<void> {
	if (await answers()) location.reload();
}

const answers = () =>
	fetch(base, { cache: "no-store", credentials: "same-origin" }).then(
		({ ok }) => ok,
		() => false,
	);

const key = "netsim.reloaded";

export function mayReload(storage: Pick<Storage, "getItem" | "setItem">, now: number): boolean {
	const before = Number(storage.getItem(key) ?? 0);
	if (now - before < 10_000) return false;
	storage.setItem(key, String(now));
	return true;
}
