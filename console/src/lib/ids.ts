/** Ids of the contract, such as sim_01kahcfv4ge3brkm7dy5s5h2k3, and those of events, which are UUIDs. */
const id = /\b([a-z]+_[0-7][0-9a-hjkmnp-tv-z]{25}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b/;

/** A text in parts, of which every second one is an id. */
export function byIds(text: string): string[] {
	return text.split(id);
}
