import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, login, logout, run, test } from "./journey";
import { freePort } from "./port";

// A service of its own behind a proxy, which has it at a prefix that it removes.
const prefix = "/tools/netsim";
let proxy: Server;
let service: ChildProcess;
let data: string;
let root: string;
let start: () => Promise<void>;

test.beforeAll(async () => {
	test.setTimeout(300_000);
	const port = await freePort();
	proxy = createServer((incoming, reply) => {
		if (!incoming.url?.startsWith(`${prefix}/`)) return reply.writeHead(418).end("not below the prefix");
		const { method, headers } = incoming;
		const outgoing = request({ port, host: "127.0.0.1", method, headers, path: incoming.url.slice(prefix.length) }, (answer) => {
			reply.writeHead(answer.statusCode ?? 502, answer.headers);
			answer.pipe(reply);
		});
		outgoing.on("error", () => reply.writeHead(502).end());
		reply.on("close", () => outgoing.destroy());
		incoming.pipe(outgoing);
	});
	const own = await freePort();
	proxy.listen(own, "127.0.0.1");
	root = `http://127.0.0.1:${own}${prefix}`;
	data = mkdtempSync(join(tmpdir(), "netsim-prefix-"));
	start = async () => {
		service = spawn("../bin/netsim-dev", ["run", "--end-with-parent"], {
			env: { ...process.env, NETSIM_HTTP: `127.0.0.1:${port}`, NETSIM_CONSOLE_URL: root, NETSIM_DATA: data },
			stdio: ["pipe", "ignore", "inherit"],
		});
		await expect
			.poll(
				() =>
					fetch(`${root}/console/`).then(
						({ status }) => status,
						() => 0,
					),
				{ timeout: 240_000 },
			)
			.toBe(200);
	};
	await start();
});

/** Ends the service, as a person does with Ctrl-C. */
async function stop(): Promise<void> {
	if (service.exitCode !== null) return;
	const ended = new Promise((resolve) => service.on("exit", resolve));
	service.kill("SIGINT");
	await ended;
}

test.afterAll(async () => {
	test.setTimeout(120_000);
	await stop();
	proxy.closeAllConnections();
	proxy.close();
	rmSync(data, { recursive: true, force: true });
});

test.describe("below a prefix", () => {
	// oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what is used
	test.use({ baseURL: ({}, use) => use(`${root}/console/`) });

	test("a deep link leads through the login to its page, and everything on it stays below the prefix", async ({ page }) => {
		const outside: string[] = [];
		page.on("response", (response) => response.status() === 418 && outside.push(response.url()));
		await page.goto("simulations?status=completed");
		await login(page);
		await expect(page).toHaveURL(`${root}/console/simulations?status=completed`);
		const id = await run(page, "prefixed", 64);
		await page.goto(`simulations/${id}?view=timeline`);
		await expect(page.getByText("Collectives").first()).toBeVisible();
		await page.getByRole("link", { name: "Studies" }).click();
		await expect(page).toHaveURL(`${root}/console/studies`);
		await page.reload();
		await expect(page.getByRole("heading", { name: "Studies" })).toBeVisible();
		await logout(page);
		expect(page.url().startsWith(`${root}/console/`)).toBe(true);
		expect(outside).toEqual([]);
	});

	test("while the service restarts the page says so, and afterwards goes on without a login", async ({ page, refused }) => {
		test.setTimeout(200_000);
		refused.push("/console/", "the service cannot be reached");
		await page.goto("simulations?search=restart");
		await login(page);
		await run(page, "restart-before", 8);
		const row = (name: string) => page.getByRole("row", { name: new RegExp(name) });
		await expect(row("restart-before")).toBeVisible();
		await stop();
		await expect(page.getByText("connection lost, trying again", { exact: true })).toBeVisible();
		// A page whose file is not loaded yet.
		await page.getByRole("link", { name: "Streams", exact: true }).click();
		await expect(page.getByRole("alert")).toContainText("The page cannot be shown: the service cannot be reached.");
		await page.getByRole("button", { name: "Try again" }).click();
		await expect(page.getByRole("alert")).toContainText("the service cannot be reached");
		await page.goBack();
		await expect(row("restart-before"), "what was shown stays").toBeVisible();
		await start();
		await expect(page.getByText("live", { exact: true })).toBeVisible({ timeout: 60_000 });
		await run(page, "restart-after", 8);
		await expect(row("restart-after")).toContainText("completed");
		await page.getByRole("link", { name: "Streams", exact: true }).click();
		await expect(page.getByRole("heading", { name: "Streams" })).toBeVisible();
		await expect(page.getByRole("button", { name: "Log out" })).toBeVisible();
	});
});
