// With a service at NETSIM_URL and a token of it in NETSIM_TOKEN.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const path = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url));

test("the blocks of the README run, one after another, with strict types", async (t) => {
	const page = await readFile(path("README.md"), "utf8");
	const blocks = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code);
	assert.ok(blocks.length > 5);
	const source = path("build/readme/page.ts");
	await mkdir(path("build/readme"), { recursive: true });
	await writeFile(source, blocks.join("\n"));
	await writeFile(path("build/readme/tsconfig.json"), JSON.stringify({ extends: "../../tsconfig.json", compilerOptions: { outDir: "out", rootDir: "." }, include: ["page.ts"] }));
	await run(process.execPath, [path("node_modules/typescript/bin/tsc"), "-p", path("build/readme")]).catch((error: { stdout: string }) => assert.fail(error.stdout));

	const cwd = await mkdtemp(join(tmpdir(), "readme-"));
	t.after(() => rm(cwd, { recursive: true }));
	await symlink(path("../../simulator/chakra/testdata/ring"), join(cwd, "traces"));
	const { stdout } = await run(process.execPath, [path("build/readme/out/page.js")], { cwd });
	for (const want of [
		/^completed after [\d.]+us of simulated time; one like it costs \d\S* CREDIT$/m,
		/^sim_\w+ first-run$/m,
		/^it has the version 2 now$/m,
		/^\d+ netsim\.simulation\.completed\.v1$/m,
		/^ts_\w+$/m,
		/^1 recursiveHalvingDoubling \d+$/m,
	])
		assert.match(stdout, want);
});
