import { readFileSync } from "node:fs";
import { test as base, expect, type Page } from "@playwright/test";

/** What a journey may do besides what its browser does. */
type Journey = {
	/** What the journey provokes: parts of the addresses of refusals, or of messages, that the browser then logs. */
	refused: string[];
	/** Fails the journey on anything that a person would not see: it is always on. */
	watch: undefined;
};

/**
 * A journey begins with an empty browser, and fails on a report of the content security policy,
 * on an error in the browser's log, and on a request to another origin than the service and the
 * object store. Only the login is a page of the provider.
 */
export const test = base.extend<Journey>({
	// oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what is used
	refused: async ({}, use) => use([]),
	watch: [
		async ({ page, baseURL, refused }, use) => {
			const wrong: string[] = [];
			const service = new URL(baseURL ?? "").origin;
			let store = "";
			await page.addInitScript(() => {
				addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
			});
			page.on("console", (message) => {
				const at = message.location().url;
				const known =
					(message.text().startsWith("Failed to load resource") && ["/console/session", ...refused].some((part) => at.includes(part))) || refused.some((part) => message.text().includes(part));
				if (message.type() === "error" && !known) wrong.push(`log: ${message.text()} (${at})`);
			});
			page.on("pageerror", (error) => wrong.push(`error: ${error.stack ?? error.message}`));
			page.on("response", async (response) => {
				if (!response.url().endsWith("/console/session") || response.status() !== 200) return;
				store = (await response.json().catch(() => ({}))).objectStore ?? store;
			});
			page.on("request", (request) => {
				const { origin, protocol } = new URL(request.url());
				const navigates = request.isNavigationRequest() && request.frame() === page.mainFrame();
				if (protocol.startsWith("http") && origin !== service && origin !== store && !navigates) wrong.push(`request: ${request.method()} ${request.url()}`);
			});
			await use(undefined);
			expect(wrong, "what the browser reported").toEqual([]);
		},
		{ auto: true },
	],
});

export { expect };

/** Logs in as one of the users that the development issuer offers. The page asks for it. */
export async function login(page: Page, user = "developer"): Promise<void> {
	await page.getByRole("main").getByRole("link", { name: "Log in" }).click();
	await page.getByRole("button", { name: user, exact: true }).click();
	await expect(page.getByRole("button", { name: "Log out" })).toBeVisible();
}

/** Logs out, and waits for the page that follows: it would interrupt another address. */
export async function logout(page: Page): Promise<void> {
	await page.getByRole("button", { name: "Log out" }).click();
	await expect(page.getByRole("main").getByRole("link", { name: "Log in" })).toBeVisible();
}

/** Logs in under a name of one's own. */
export async function loginAs(page: Page, name: string, lifetime = 3600): Promise<void> {
	await page.getByRole("main").getByRole("link", { name: "Log in" }).click();
	await page.getByLabel("Name").fill(name);
	await page.getByLabel(/Access tokens last/).fill(String(lifetime));
	await page.getByRole("button", { name: "Log in" }).click();
	await expect(page.getByRole("button", { name: "Log out" })).toBeVisible();
}

/** Calls the API as the browser would, with its session. */
export async function api(page: Page, operation: string, body?: unknown): Promise<any> {
	const url = new URL(`api/v1/${operation}`, page.url().replace(/(\/console\/).*/, "$1"));
	const reply = body === undefined ? await page.request.get(url.href) : await page.request.post(url.href, { data: body });
	expect(reply.ok(), `${operation}: ${reply.status()} ${await reply.text()}`).toBe(true);
	return reply.json();
}

/** Runs a simple simulation to its end and returns its id. */
export async function run(page: Page, name: string, ranks = 16, constraints?: object): Promise<string> {
	const { simulationId } = await api(page, "simple/simulations", {
		name,
		workload: { ranks, phases: [{ operationType: "allReduce", dataSize: 1048576 }] },
		...(constraints && { topologyConstraints: constraints }),
	});
	await completed(page, `simulations/${simulationId}`);
	return simulationId;
}

/** Waits until a simulation or a study, by its path in the API, is completed. */
export async function completed(page: Page, path: string, timeout = 60_000): Promise<void> {
	await expect.poll(async () => (await api(page, path)).status, { timeout }).toBe("completed");
}

const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

/** Fails on what keeps people from using the page. */
export async function accessible(page: Page): Promise<void> {
	await page.evaluate(axe);
	const findings = await page.evaluate(async () => {
		const { violations } = await (globalThis as any).axe.run(document, { resultTypes: ["violations"] });
		return violations
			.filter((one: any) => one.impact === "serious" || one.impact === "critical")
			.map((one: any) => `${one.id}: ${one.nodes.map((node: any) => `${node.target} ${node.failureSummary}`).join("; ")}`);
	});
	expect.soft(findings, `axe on ${page.url()}`).toEqual([]);
}
