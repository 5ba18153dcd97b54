import type { APIRequestContext, Page } from "@playwright/test";
import { accessible, api, expect, login, logout, test } from "./journey";
import { netsim } from "./shell";

const table = "readmodel.configurations";

/** Adds a constraint of which the service knows nothing: PostgreSQL refuses the rows that it forbids. */
function forbid(rows: string): void {
	netsim("psql", "-qc", `ALTER TABLE ${table} ADD CONSTRAINT forbidden CHECK (NOT (${rows})) NOT VALID`);
}

function removeTheCause(): void {
	netsim("psql", "-qc", `ALTER TABLE ${table} DROP CONSTRAINT IF EXISTS forbidden`);
}

test.afterEach(removeTheCause);

/** Clones a template into a configuration. */
async function made(page: Page, name: string, workspaceId?: string): Promise<string> {
	const { templates } = await api(page, "templates?search=Single%20rack");
	return (await api(page, `templates/${templates[0].id}/clone`, { name, workspaceId })).id;
}

/** Fails unless it is shown that operators did this, in this order, and no more. */
async function expectActs(page: Page, about: string, acts: RegExp[]): Promise<void> {
	await page.goto("machine?view=acts");
	await expect(page.getByRole("region", { name: "What operators did" })).toBeVisible();
	await expect(page.getByRole("row").filter({ hasText: about })).toHaveText(acts.toReversed());
}

test("a fact that PostgreSQL refuses is parked, looked at, and applied when the cause is removed", async ({ page }) => {
	await page.goto("configurations");
	await login(page, "neighbour");
	const id = await made(page, "a refused change");
	forbid(`id = '${id}' AND version > 1`);
	const address = `configurations/${id}?component=nic`;
	const delay = page.getByLabel(/^NetworkInterface TransmissionMedium Delay$/);
	await page.goto(address);
	await delay.fill("173");
	await page.getByRole("button", { name: "Save", exact: true }).click();
	await expect(page.getByText("not saved")).toBeHidden();
	await page.reload();
	await expect(delay, "the page is as before the fact").toHaveValue("100");
	await logout(page);

	await page.goto("machine?view=parked");
	await login(page, "operator");
	const parked = page.getByRole("region", { name: `Stream ${id}` });
	await expect(parked.getByRole("row").last()).toContainText(/netsim\.configuration\.updated.*violates check constraint "forbidden"/);
	await accessible(page);
	await parked.getByRole("link", { name: id }).click();
	await expect(page.getByText(/A fact of this stream cannot be applied/)).toBeVisible();
	await page.goBack();

	const again = page.getByRole("button", { name: `Apply them again: the parked facts of ${id}` });
	await again.click();
	await expect(parked.getByRole("status")).toHaveText("1 are still parked.");
	await expectActs(page, id, [/streams retry.*failed/]);
	await page.goto("machine?view=parked");
	await expect(parked).not.toContainText("173");
	await page.getByRole("button", { name: `Show the data of fact 2 of ${id}` }).click();
	await expect(parked.locator("pre")).toContainText("173");
	await page.getByRole("button", { name: "Hide" }).click();
	await expect(parked).not.toContainText("173");

	removeTheCause();
	await again.click();
	await expect(page.getByText("Nothing is parked")).toBeVisible();
	await page.goto(`streams/${id}`);
	await expect(page.getByRole("heading", { level: 2, name: /netsim\.configuration\.updated/ })).toBeVisible();
	await expect(page.getByText(/A fact of this stream cannot be applied/)).toHaveCount(0);
	await expectActs(page, id, [/streams retry.*failed/, /streams show/, /streams retry.*succeeded/]);
	await logout(page);
	await page.goto(address);
	await login(page, "neighbour");
	await expect(delay).toHaveValue("173");
});

/** What a service of the platform asks of the API, with a token of its own. */
async function asService(request: APIRequestContext, method: string, path: string, body?: object): Promise<any> {
	const headers = { Authorization: `Bearer ${netsim("token", "--service")}` };
	const reply = await request.fetch(`${process.env.NETSIM_CONSOLE}/api/v1/${path}`, { method, headers, data: body });
	expect(reply.ok(), `${path}: ${reply.status()} ${await reply.text()}`).toBe(true);
	return reply.json();
}

test("a handler that cannot process a fact leaves a dead letter, and is run again when the cause is removed", async ({ page, request }) => {
	test.setTimeout(300_000); // with the retries of make run a handler gives up after 80 s
	const { id: workspace } = await asService(request, "POST", "workspaces", { name: "stays half deleted" });
	await page.goto("machine?view=letters");
	await login(page, "operator");
	const id = await made(page, "cannot be deleted", workspace);
	forbid(`id = '${id}' AND deleted`);
	await asService(request, "DELETE", `workspaces/${workspace}`);

	const letter = page.getByRole("region", { name: "Dead letters" }).getByRole("row").filter({ hasText: workspace });
	await expect(letter).toContainText(`${id} cannot change until an operator repairs its stream`, { timeout: 180_000 });
	await accessible(page);
	await letter.getByRole("link", { name: workspace }).click();
	const facts = page.getByRole("heading", { level: 2, name: /netsim\.workspace\./ });
	await expect(facts.last()).toContainText("netsim.workspace.deletion_requested");
	await page.goBack();
	await expect(letter.locator("pre")).toHaveCount(0);
	const retry = letter.getByRole("button", { name: /^Retry workspace:/ });
	const ofLetter = ((await retry.getAttribute("aria-label")) ?? "").slice("Retry ".length);
	await letter.getByRole("button", { name: `Show the data of ${ofLetter}` }).click();
	await expect(letter.locator("pre")).toBeVisible();
	await retry.click();
	await expect(letter.getByRole("status")).toHaveText("1 still open.");

	removeTheCause();
	await page.goto("machine?view=parked");
	await page.getByRole("button", { name: `Apply them again: the parked facts of ${id}` }).click();
	await expect(page.getByText("Nothing is parked")).toBeVisible();
	await page.goto("machine?view=letters");
	await retry.click();
	await expect(page.getByText("There are none")).toBeVisible();
	await page.goto(`streams/${workspace}`);
	await expect(facts.last()).toContainText("netsim.workspace.deleted");
	await expectActs(page, ofLetter, [/reactions show/, /reactions retry.*failed/, /reactions retry.*succeeded/]);
});
