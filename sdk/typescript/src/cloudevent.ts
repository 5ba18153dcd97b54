import { isRecord } from "./json.js";

/** An event of the log, as a CloudEvents 1.0 event in JSON (docs/events.md). */
export interface CloudEvent {
	specversion: string;
	id: string;
	source: string;
	/** Such as `netsim.simulation.completed.v1`. */
	type: string;
	/** The stream, such as the id of a simulation. */
	subject?: string;
	/** When it happened. */
	time?: string;
	/** Its number in the stream. */
	sequence?: string;
	/** What docs/events.md says of the type. An integer beyond 2^53 is a bigint. */
	data?: unknown;
	/** Other attributes. */
	[attribute: string]: unknown;
}

/** Whether a value is a CloudEvent. */
export function isCloudEvent(value: unknown): value is CloudEvent {
	return isRecord(value) && typeof value.specversion === "string" && typeof value.id === "string" && typeof value.source === "string" && typeof value.type === "string";
}
