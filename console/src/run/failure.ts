import { Refusal } from "../api/refusal";

/** Why a worker cannot draw: by the status of a refusal, if it was one. */
export type Failed = { type: "failed"; message: string; status?: number };

/** An error as a worker tells the page of it. */
export function failure(error: unknown): Failed {
	if (error instanceof Refusal) return { type: "failed", message: error.message, status: error.status };
	return { type: "failed", message: error instanceof Error ? error.message : String(error) };
}

/** What a worker told as an error again. */
export function failed({ message, status }: Failed): Error {
	return status === undefined ? new Error(message) : new Refusal(status, message);
}
