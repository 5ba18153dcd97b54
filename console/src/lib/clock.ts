import { hard } from "./units";

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

/** When an instant is, by the server's clock, in the largest unit: "3 min ago", or "in 7 days". */
export function ago(instant: string, now: number = clock.now()): string {
	const seconds = Math.floor((now - Date.parse(instant)) / 1000);
	if (Number.isNaN(seconds)) return instant;
	if (seconds < -5) return `in ${parts(-seconds)[0]}`;
	if (seconds < 5) return "just now";
	return `${parts(seconds)[0]} ago`;
}

/** How long something takes by the clock on the wall: to three digits below a minute, "9.12 s", and else in its two largest units, "3 min 20 s". */
export function lasting(seconds: number): string {
	const short = Number(seconds.toPrecision(3));
	if (short === 0 || (short >= 1 && short < 60)) return `${short}${hard}s`;
	if (short < 1) return `${Number((seconds * 1000).toPrecision(3))}${hard}ms`;
	return parts(Math.round(seconds)).slice(0, 2).join(" ");
}

const units = [
	["days", 86_400],
	["h", 3600],
	["min", 60],
	["s", 1],
] as const;

/** Whole seconds in units from the largest, without those behind it that are 0. Below two days the largest is the hour. */
function parts(seconds: number): string[] {
	let rest = seconds;
	const found = units.map(([unit, length]) => {
		const times = unit === "days" && seconds < 2 * length ? 0 : Math.floor(rest / length);
		rest -= times * length;
		return times > 0 ? `${times}${hard}${unit}` : "";
	});
	const first = found.findIndex((part) => part !== "");
	return found.slice(first, first + 2).filter((part) => part !== "");
}
