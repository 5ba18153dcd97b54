import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { accessible, api, expect, login, test } from "./journey";

const traces = [0, 1, 2, 3].map((rank) => fileURLToPath(new URL(`../../simulator/chakra/testdata/microbench/all_reduce.${rank}.et`, import.meta.url)));
const part = 16 * 1024 * 1024;

/** A file of random bytes. */
function written(path: string, size: number): string {
	mkdirSync(dirname(path), { recursive: true });
	writeFileSync(path, randomBytes(size));
	return path;
}

test("a trace is uploaded, its content is checked, and a configuration runs it", async ({ page }) => {
	await page.goto("tracesets");
	await login(page);
	const { templates } = await api(page, "templates?search=Single%20rack");
	await api(page, `templates/${templates[0].id}/clone`, { name: "rack of traces" });
	await page.getByRole("link", { name: "Upload a traceset" }).click();
	await page.getByLabel(/Drop the files here/).setInputFiles(traces);
	await expect(page.getByLabel("Name of the traceset")).toHaveValue("all_reduce");
	await page.getByLabel("Name of the traceset").fill("<b>ring</b> \u202eשלום");
	await accessible(page);
	await page.getByRole("button", { name: "Upload", exact: true }).click();
	await expect(page.getByRole("heading", { level: 1 })).toHaveText("<b>ring</b> \u202eשלום");
	await expect(page.getByText("ready", { exact: true })).toBeVisible();
	await expect(page.getByRole("row", { name: /all_reduce.3.et 3 traces of ranks/ })).toBeVisible();
	await page.getByRole("button", { name: "Read and check the files" }).click();
	await expect(page.getByText("All checks passed.")).toBeVisible();
	await expect(page.getByText("Every send has its receive:")).toBeVisible();
	await accessible(page);

	// Promoted to the account it never expires. To everyone is another step.
	await page.getByRole("button", { name: "Promote it to everyone in your account" }).click();
	const dialog = page.getByRole("dialog");
	await expect(dialog.getByRole("button", { name: "Promote it" })).toBeDisabled();
	await dialog.getByLabel("Family of the workload").fill("ring");
	await accessible(page);
	await dialog.getByRole("button", { name: "Promote it" }).click();
	await expect(page.getByRole("button", { name: "Promote it to everyone, in other accounts too" })).toBeVisible();
	await expect(page.locator("dl.facts")).toContainText(/Seen by\s*everyone in your account.*Expires\s*never/);
	await expect(page.getByText('"workloadFamily":"ring"')).toBeVisible();
	await page.getByRole("button", { name: "Promote it to everyone, in other accounts too" }).click();
	await expect(dialog.getByLabel("Family of the workload")).toHaveCount(0);
	await dialog.getByRole("button", { name: "Leave it as it is" }).click();

	await page.getByRole("link", { name: "rack of traces" }).first().click();
	await page.getByRole("button", { name: "Attach the traceset" }).click();
	await expect(page.getByRole("button", { name: "Attach the traceset" })).toBeDisabled();
	await page.getByRole("button", { name: "Validate" }).click();
	await expect(page.getByText("Valid, with warnings.")).toBeVisible();
	await accessible(page);
	await page.getByRole("button", { name: /Run version/ }).click();
	await expect(page.getByText(/It takes .* of simulated time/)).toBeVisible({ timeout: 60_000 });
});

test("an upload that was interrupted goes on after a reload, with the same file only", async ({ page, refused }, info) => {
	const same = written(info.outputPath("same", "notes.bin"), 2 * part + 12345);
	const other = written(info.outputPath("other", "notes.bin"), 2 * part + 12345);
	const puts: string[] = [];
	refused.push("/staging/");
	page.on("request", (request) => {
		if (request.method() === "PUT") puts.push(new URL(request.url()).searchParams.get("partNumber") ?? "");
	});
	await page.goto("upload");
	await login(page);
	// The store refuses the first part once, and never replies to the second.
	let failed = false;
	await page.route(/partNumber=/, (route) => {
		const number = new URL(route.request().url()).searchParams.get("partNumber");
		if (route.request().method() !== "PUT") return route.continue();
		if (number === "2") return;
		if (failed) return route.continue();
		failed = true;
		return route.fulfill({ status: 503, headers: { "Access-Control-Allow-Origin": "*" } });
	});
	await page.getByLabel(/Drop the files here/).setInputFiles(same);
	await page.getByLabel("Name of the traceset").fill("interrupted");
	await page.getByRole("button", { name: "Upload", exact: true }).click();
	await expect(page.getByText("the store has 1 of 3 parts")).toBeVisible();
	await expect.poll(() => puts).toEqual(["1", "1", "2"]);
	const kept = await page.evaluate(() => JSON.stringify(localStorage));
	expect(kept).not.toContain("X-Amz"); // no link to the store is kept

	await page.reload();
	await page.unroute(/partNumber=/);
	await expect(page.getByText("the store has 1 of 3 parts")).toBeVisible();
	await expect(page.getByRole("button", { name: "Resume" })).toBeDisabled();
	await expect(page.getByText("choose this file again: notes.bin")).toBeVisible();
	await accessible(page);
	puts.length = 0;
	await page.getByLabel(/Drop the same files/).setInputFiles(other);
	await page.getByRole("button", { name: "Resume" }).click();
	await expect(page.getByRole("alert")).toContainText("is not the file that was chosen first");
	expect(puts).toEqual([]);
	await page.getByLabel(/Drop the same files/).setInputFiles(same);
	await page.getByRole("button", { name: "Resume" }).click();
	await expect(page.getByRole("heading", { level: 1, name: "interrupted" })).toBeVisible();
	expect(puts).toEqual(["2", "3"]);
	await page.goto("upload");
	await expect(page.getByText("Drop the files here")).toBeVisible();
});

test("a mapping file is uploaded, shown and deleted; the store is away for a while", async ({ page, refused }, info) => {
	const file = join(info.outputPath("files"), "rows of <b>.txt");
	mkdirSync(dirname(file), { recursive: true });
	writeFileSync(file, `${[0, 1, 2, 3].map((rank) => `${rank}, ${rank}, 0, 0`).join("\n")}\n@ group, Gb/s, ns, ns\n0, 3600, 250, 5.5\n`);
	refused.push("/staging/", "/mapping-files/");
	await page.goto("mapping-files");
	await login(page);
	await page.getByRole("link", { name: "Upload a mapping file" }).click();
	await page.route(/partNumber=/, (route) => route.abort("connectionrefused"));
	await page.getByLabel(/Drop the file here/).setInputFiles(file);
	await page.getByRole("button", { name: "Upload", exact: true }).click();
	await expect(page.getByText("trying again")).toBeVisible();
	await expect(page.getByRole("alert")).toContainText("the object store cannot be reached from this browser");
	await expect(page.getByText("the store has 0 of 1 parts")).toBeVisible();
	await accessible(page);
	await page.unroute(/partNumber=/);
	await page.getByRole("button", { name: "Resume" }).click();
	await expect(page.getByRole("heading", { level: 1, name: "rows-of-b-.txt" })).toBeVisible();
	await expect(page.locator("pre.content")).toContainText("3, 3");
	const gone = page.url();
	await page.getByRole("button", { name: "Delete this mapping file" }).click();
	await page.getByRole("button", { name: "Keep it" }).click();
	await page.getByRole("button", { name: "Delete this mapping file" }).click();
	await page.getByRole("button", { name: "Delete it" }).click();
	await expect(page.getByRole("heading", { level: 1, name: "Mapping files" })).toBeVisible();
	await page.goto(gone);
	await expect(page.getByRole("alert")).toBeVisible();
});

test("a promotion that is refused says why, and keeps what was typed", async ({ page, refused }) => {
	refused.push("/promote");
	await page.goto("upload?kind=traceset");
	await login(page);
	await page.getByLabel(/Drop the files here/).setInputFiles(traces);
	await page.getByRole("button", { name: "Upload", exact: true }).click();
	await page.getByRole("button", { name: "Promote it to everyone in your account" }).click();
	const dialog = page.getByRole("dialog");
	await dialog.getByLabel("Family of the workload").fill("ring");
	// It is deleted in another tab meanwhile.
	const id = page.url().replace(/.*tracesets\//, "");
	await page.request.delete(new URL(`/console/api/v1/tracesets/${id}`, page.url()).href);
	await dialog.getByRole("button", { name: "Promote it" }).click();
	await expect(page.getByRole("alert")).toContainText("It was not promoted");
	await expect(page.getByRole("alert")).toContainText(id);
	await page.getByRole("button", { name: "Promote it to everyone in your account" }).click();
	await expect(dialog.getByLabel("Family of the workload")).toHaveValue("ring");
});
