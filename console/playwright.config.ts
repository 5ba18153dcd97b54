import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "@playwright/test";
import { freePort } from "./journeys/port";

// NETSIM_CONSOLE is a service that runs, such as http://127.0.0.1:8080. Without it the
// journeys start their own, with data of its own. Workers inherit what is decided here.
if (process.env.NETSIM_CONSOLE === undefined) {
	process.env.NETSIM_CONSOLE = `http://127.0.0.1:${await freePort()}`;
	process.env.NETSIM_JOURNEYS_OWN = mkdtempSync(join(tmpdir(), "netsim-journeys-"));
}
const own = process.env.NETSIM_JOURNEYS_OWN;
const service = process.env.NETSIM_CONSOLE as string;

export default defineConfig({
	testDir: process.env.NETSIM_FIGURES ? "figures" : "journeys",
	outputDir: "../.cache/journeys/failures",
	workers: 1,
	timeout: 120_000,
	expect: { timeout: 30_000 },
	reporter: [["list"]],
	use: {
		baseURL: `${service}/console/`,
		trace: "retain-on-failure",
		launchOptions: { executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] },
	},
	...(!process.env.NETSIM_FIGURES && {
		projects: [
			{ name: "first", testMatch: "first-result.spec.ts" },
			{ name: "then", testIgnore: "first-result.spec.ts", dependencies: ["first"] },
		],
	}),
	...(own && {
		webServer: {
			command: `${process.env.NETSIM_DEV ?? "../bin/netsim-dev"} run --end-with-parent`,
			url: `${service}/console/`,
			env: {
				NETSIM_HTTP: service.slice("http://".length),
				NETSIM_DATA: own,
				NETSIM_REACTION_RETRIES: "3", // a handler gives up after seconds, in repair.spec.ts
				...(process.env.NETSIM_FIGURES && { NETSIM_PROFILES: "true" }), // they collect the garbage before they read the memory
			},
			timeout: 300_000,
			gracefulShutdown: { signal: "SIGINT", timeout: 60_000 },
			stdout: "pipe",
		},
	}),
});
