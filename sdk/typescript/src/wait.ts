import type { Api } from "./client.js";
import { NetsimError, WaitTimeoutError } from "./errors.js";
import { follow } from "./events.js";
import type { Simulation, SimulationEvent } from "./generated/client.schemas.js";
import { isRecord, parse } from "./json.js";
import { sleep, type Transport } from "./transport.js";

export interface WaitOptions {
	/** Milliseconds until a WaitTimeoutError: an hour when absent. */
	timeout?: number;
	/** Called for the changes of the status and the progress, as they arrive. */
	onEvent?: (event: SimulationEvent) => void;
	/** Throw a SimulationFailedError unless the simulation is completed. */
	throwOnFailure?: boolean;
	/** Milliseconds between reads of the simulation, in case its events do not come: 2,000 when absent. */
	poll?: number;
	signal?: AbortSignal;
}

/** A simulation that ended without being completed. Thrown only if asked for. */
export class SimulationFailedError extends NetsimError {
	constructor(readonly simulation: Simulation) {
		super(`simulation ${simulation.id} is ${simulation.status}${simulation.failureReason ? `: ${simulation.failureReason}` : ""}`);
	}
}

const final: readonly string[] = ["completed", "failed", "terminated", "invalid"];

/** Waits until a simulation has ended: its events say when to read it, and it is read now and then in case they do not come. */
export async function wait(api: Api, transport: Transport, id: string, { timeout = 3_600_000, onEvent, throwOnFailure, poll = 2_000, signal }: WaitOptions): Promise<Simulation> {
	const limit = new AbortController();
	const timer = setTimeout(() => limit.abort(new WaitTimeoutError(`simulation ${id} has not ended within ${timeout} ms`)), timeout);
	const either = AbortSignal.any([limit.signal, ...(signal ? [signal] : [])]);
	let [following, seen] = [true, false];
	const ended = followed(transport, id, onEvent, either).then(
		() => {
			[following, seen] = [false, true];
		},
		(error: unknown) => {
			following = false;
			if (!(error instanceof NetsimError)) throw error; // Otherwise a read says why, or does without the events.
		},
	);
	ended.catch(() => {}); // The race has it.
	try {
		for (;;) {
			if (following) await Promise.race([ended, sleep(poll, either)]);
			else await sleep(seen ? 100 : poll, either);
			const simulation = await api.getSimulation({ path: { sim_id: id } }, { signal: either });
			if (!final.includes(simulation.status)) continue;
			if (throwOnFailure && simulation.status !== "completed") throw new SimulationFailedError(simulation);
			return simulation;
		}
	} finally {
		clearTimeout(timer);
		limit.abort(); // Ends the stream and the pauses.
	}
}

/** Returns when the events have said that the simulation has ended. */
async function followed(transport: Transport, id: string, onEvent: WaitOptions["onEvent"], signal: AbortSignal): Promise<void> {
	for await (const { data } of follow(transport, `/api/v1/simulations/${encodeURIComponent(id)}/events`, { signal })) {
		const event = data ? parse(data) : undefined;
		if (!isSimulationEvent(event)) continue;
		onEvent?.(event);
		if (final.includes(event.status)) return;
	}
}

function isSimulationEvent(value: unknown): value is SimulationEvent {
	return isRecord(value) && typeof value.simulationId === "string" && typeof value.status === "string";
}
