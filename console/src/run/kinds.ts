/**
 * What ranks and groups do, by its name in the trace, in both densities of the timeline: its colour
 * and its word. A transfer is drawn with its contention and latency; "sending" is the part of one
 * without these, on the critical path.
 */
export const kinds = {
	computing: { colour: "#3f7fd6", text: "computing" },
	"host computing": { colour: "#8a63c9", text: "computing on the host" },
	sending: { colour: "#d98a1f", text: "transferring" },
	waiting: { colour: "#96a0ac", text: "waiting" },
	collective: { colour: "#2e9467", text: "collective" },
} as const;

/** The kind of a lane; one that the console does not know is drawn as waiting, under its own name. */
export function kindOf(name: string): { colour: string; text: string } {
	return name in kinds ? kinds[name as keyof typeof kinds] : { ...kinds.waiting, text: name };
}
