import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { TestContext } from "node:test";

/** A request as it arrived. */
export type Seen = { method: string; path: string; headers: IncomingMessage["headers"]; body: Buffer };

export type Handler = (seen: Seen, response: ServerResponse, number: number) => void | Promise<void>;

/** A server on a free port that ends with the test. Its handler gets the number of each request, from 0. */
export async function serve(t: TestContext, handle: Handler): Promise<{ url: string; seen: Seen[] }> {
	const seen: Seen[] = [];
	const server = createServer(async (request, response) => {
		const parts: Buffer[] = [];
		try {
			for await (const part of request) parts.push(part);
		} catch {
			return; // The client went away.
		}
		const one = { method: request.method ?? "", path: request.url ?? "", headers: request.headers, body: Buffer.concat(parts) };
		await handle(one, response, seen.push(one) - 1);
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	t.after(() => {
		server.closeAllConnections();
		server.close();
	});
	const address = server.address();
	if (address === null || typeof address === "string") throw new Error("no port");
	return { url: `http://127.0.0.1:${address.port}`, seen };
}

/** Answers in JSON. */
export function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
	response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(typeof body === "string" ? body : JSON.stringify(body));
}

/** Answers as the service refuses. */
export function refuse(response: ServerResponse, status: number, code: string, message: string, headers: Record<string, string> = {}): void {
	json(response, status, { error: { code, message } }, headers);
}

/** Begins a stream of server-sent events. */
export function stream(response: ServerResponse, text: string): ServerResponse {
	response.writeHead(200, { "Content-Type": "text/event-stream" }).write(text);
	return response;
}

/** Breaks the connection. */
export function cut(response: ServerResponse): void {
	response.socket?.destroy();
}

export const workspace = { id: "workspace_1", name: "hall", version: 1 };
