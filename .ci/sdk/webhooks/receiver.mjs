// A receiver (drive.py): node receiver.mjs standardwebhooks|MODULE-OF-THE-SDK SECRETS
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";

const [library, secrets] = process.argv.slice(2);
const { Webhook, webhooks } = await import(library);
const verify = (body, headers, secret) => (webhooks ? webhooks.unwrap(body, headers, secret) : new Webhook(secret).verify(body, headers));

const server = createServer(async (request, response) => {
	const body = Buffer.concat(await request.toArray());
	const report = { id: request.headers["webhook-id"], headers: request.headers, body: String(body), status: 204 };
	try {
		for (const secret of (await readFile(secrets, "utf8")).split("\n")) {
			const { type, subject, sequence } = await verify(body, request.headers, secret);
			Object.assign(report, { type, subject, sequence });
		}
	} catch (error) {
		Object.assign(report, { status: 401, error: String(error) });
	}
	console.log(JSON.stringify(report));
	response.writeHead(report.status).end();
});
server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}/` })));
process.stdin.on("end", () => process.exit()).resume();
