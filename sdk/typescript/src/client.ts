import { Events } from "./events.js";
import { createClient, OPERATIONS, type Ops } from "./generated/client.js";
import type { SimpleSubmission, Simulation, SimulationStart, Traceset } from "./generated/client.schemas.js";
import { fileRows, type Row, studyRow } from "./results.js";
import { type ClientOptions, Transport } from "./transport.js";
import { type NewTraceset, type UploadOptions, upload } from "./upload.js";
import { type WaitOptions, wait } from "./wait.js";

/** Every operation of the contract, by its name and with its types. */
export type Api = ReturnType<typeof operations>;

function operations(transport: Transport) {
	return createClient<Ops>(OPERATIONS, {
		serverUrl: transport.url,
		fetch: transport.fetch,
		clientHeader: false,
	});
}

/** A client of one service and one token. */
export class Client {
	/** Every operation of the contract; those that are lists have `items`, which iterates over all pages. */
	readonly api: Api;
	readonly events: Events;
	readonly #transport: Transport;

	constructor(options: ClientOptions = {}) {
		this.#transport = new Transport(options);
		this.api = operations(this.#transport);
		this.events = new Events(this.#transport);
	}

	/** Waits until a simulation has ended, and returns it. */
	wait(simulation: string | { id: string }, options: WaitOptions = {}): Promise<Simulation> {
		return wait(this.api, this.#transport, typeof simulation === "string" ? simulation : simulation.id, options);
	}

	/** Starts a simulation, of a workload or of a configuration, and waits until it has ended. */
	async submitAndWait(submission: SimpleSubmission | SimulationStart, options: WaitOptions = {}): Promise<Simulation> {
		const init = options.signal ? { signal: options.signal } : {};
		if ("configurationId" in submission) return this.wait(await this.api.startSimulation({ body: submission }, init), options);
		const { simulationId } = await this.api.submitSimple({ body: submission }, init);
		return this.wait(simulationId, options);
	}

	/** Uploads the files of a traceset in parts. What its files hold is looked at next: it is `processing` at first. */
	uploadTraceset(traceset: NewTraceset, options: UploadOptions = {}): Promise<Traceset> {
		return upload(this.api, traceset, options);
	}

	/** The points of a study as rows of a table: the axes by their fields, then the figures and the fabric. */
	async *studyRows(studyId: string): AsyncGenerator<Row, void, undefined> {
		for await (const point of this.api.getStudyResults.items({ path: { study_id: studyId }, query: { limit: 1000 } })) yield studyRow(point);
	}

	/** The rows of a result file in CSV, as texts by column. */
	fileRows(simulationId: string, fileName: string, signal?: AbortSignal): AsyncGenerator<Record<string, string>, void, undefined> {
		return fileRows(this.api, simulationId, fileName, signal);
	}
}

/** The value of `If-Match` for a version, as in `headers: { "If-Match": etag(configuration.version) }`. */
export function etag(version: number | string): string {
	return `"${version}"`;
}
