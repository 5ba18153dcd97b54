import { count } from "./units";

/**
 * The server's clock. The browser's may be wrong by hours, so differences with times of the
 * server are taken from the Date header of its last reply. Between replies the monotonic clock
 * of the page counts.
 */
export class Clock {
	private at = Number.NaN;
	private seen = 0;

	constructor(private readonly monotonic: () => number = () => performance.now()) {}

	/** Takes the Date header of a reply. */
	observe(date: string | null): void {
		const at = date === null ? Number.NaN : Date.parse(date);
		if (Number.isNaN(at)) return;
		const now = this.monotonic();
		// The header has whole seconds, so a later reply may say less than is known.
		if (Number.isNaN(this.at) || Math.abs(at - (this.at + now - this.seen)) > 1000) {
			this.at = at;
			this.seen = now;
		}
	}

	/** Now by the server's clock in milliseconds; NaN before its first reply. */
	now(): number {
		return this.at + this.monotonic() - this.seen;
	}
}

export const clock = new Clock();

/** When an instant is, by the server's clock: "3 min ago", or "in 7 days". */
export function ago(instant: string, now: number = clock.now()): string {
	const seconds = Math.floor((now - Date.parse(instant)) / 1000);
	if (Number.isNaN(seconds)) return instant;
	if (seconds < -5) return `in ${lasting(-seconds)}`;
	if (seconds < 5) return "just now";
	return `${lasting(seconds)} ago`;
}

/** A time that was measured: below 10 s in milliseconds. */
export function measured(seconds: number): string {
	return seconds < 10 ? `${count(Math.round(seconds * 1000))} ms` : lasting(seconds);
}

/** Seconds in words: "3 min". */
export function lasting(seconds: number): string {
	if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
	if (seconds < 60) return `${Math.floor(seconds)} s`;
	if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
	if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
	return `${Math.floor(seconds / 86400)} days`;
}
