// Workers import this too: there is no document here.

/** A request that was refused, or that did not reach the service. */
export class Refusal extends Error {
	constructor(
		readonly status: number, // 0: no reply
		message: string,
		readonly code = "",
		readonly requestId = "",
		readonly retryAfter = 0, // seconds
	) {
		super(message);
	}
}

/** What the object store replies to a presigned link. Another reply than the file, or none, is thrown as a Refusal. */
export async function stored(link: string, signal?: AbortSignal): Promise<Response> {
	let response: Response;
	try {
		response = await fetch(link, { signal: signal ?? null, credentials: "omit" });
	} catch (error) {
		if (error instanceof DOMException && error.name === "AbortError") throw error;
		throw new Refusal(0, "the object store cannot be reached from this browser");
	}
	if (!response.ok) throw new Refusal(response.status, `the object store replies ${response.status}`);
	return response;
}
