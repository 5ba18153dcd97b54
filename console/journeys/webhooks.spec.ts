import { createHmac } from "node:crypto";
import { createServer, type Server } from "node:http";
import { accessible, api, expect, login, run, test } from "./journey";

type Message = { id: string; type: string; signed: (secret: string) => boolean };

/** A receiver on this machine, which answers with the status that it is told. */
async function receiver(): Promise<{ url: string; got: Message[]; answer: (status: number) => void; server: Server }> {
	const got: Message[] = [];
	let status = 204;
	const server = createServer((request, response) => {
		const parts: Buffer[] = [];
		request.on("data", (part) => parts.push(part));
		request.on("end", () => {
			const body = Buffer.concat(parts).toString();
			const [id, time, signatures] = ["id", "timestamp", "signature"].map((name) => String(request.headers[`webhook-${name}`]));
			const signed = (secret: string) => {
				const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
				return signatures?.split(" ").includes(`v1,${createHmac("sha256", key).update(`${id}.${time}.${body}`).digest("base64")}`) ?? false;
			};
			got.push({ id: id ?? "", type: JSON.parse(body).type, signed });
			response.writeHead(status).end();
		});
	});
	await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
	const address = server.address();
	return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/hooks`, got, answer: (now) => (status = now), server };
}

test("a webhook is made, tried, stopped, and sends again; its secret is shown once", async ({ page, refused }) => {
	refused.push("/webhooks"); // a reply that is lost, a conflict, and a bad receiver
	const { url, got, answer, server } = await receiver();
	try {
		await page.goto("streams");
		await login(page);
		await page.getByRole("navigation", { name: "Streams and webhooks" }).getByRole("link", { name: "Webhooks" }).click();
		await expect(page.getByText("There are no webhooks yet")).toBeVisible();

		// The reply to the first try is lost; the second makes no second webhook.
		let lost = 0;
		await page.route(/\/v1\/webhooks$/, async (route) => {
			if (route.request().method() !== "POST" || lost++ > 0) return route.continue();
			await route.fetch();
			await route.abort();
		});
		await page.getByLabel("URL").fill(url);
		await page.getByLabel("Description").fill("<i>nightly</i>");
		await page.getByRole("button", { name: "simulation.completed" }).click();
		await expect(page.getByLabel(/^Types/)).toHaveValue("netsim.simulation.completed.v1");
		await page.getByRole("button", { name: "Create it" }).click();
		await expect(page.getByRole("alert")).toContainText("It was not created");
		await page.getByRole("button", { name: "Create it" }).click();
		const shown = page.getByRole("status", { name: "Secret" }).getByRole("button");
		await expect(shown).toHaveText(/^whsec_/);
		const secret = (await shown.textContent()) ?? "";
		const rows = page.getByRole("region", { name: "Webhooks", exact: true }).locator("tbody").getByRole("row");
		await expect(rows).toHaveCount(1);
		await expect(rows).toContainText("<i>nightly</i>");
		await accessible(page);
		await page.reload();
		await expect(rows).toHaveCount(1);
		await expect(page.getByText(/whsec_/)).toHaveCount(0);

		await rows.getByRole("link").click();
		await page.getByRole("button", { name: "Send a test" }).click();
		await expect(page.getByText(/^The test:/)).toContainText("delivered answered 204 after");
		expect(got.map(({ type, signed }) => [type, signed(secret)])).toEqual([["netsim.webhook.test", true]]);

		// What is recorded meanwhile waits, and is sent when it goes on.
		await page.getByRole("button", { name: "Pause" }).click();
		await expect(page.locator(".headline")).toContainText("paused");
		const id = await run(page, "posted", 8);
		expect(got).toHaveLength(1);
		await page.getByRole("button", { name: "Resume" }).click();
		await expect(page.locator(".headline")).toContainText("active");
		await expect.poll(() => got.filter(({ type }) => type === "netsim.simulation.completed.v1").length).toBe(1);
		const attempts = page.getByRole("table", { name: "Attempts" }).getByRole("row");
		const link = attempts.getByRole("link", { name: /netsim\.simulation\.completed/ });
		await expect(link).toHaveAttribute("href", new RegExp(id));
		await accessible(page);

		answer(500);
		await page.getByRole("button", { name: "Send a test" }).click();
		await expect(page.getByText(/^The test:/)).toContainText("failed answered 500 after");
		answer(204);

		// The same message again, by its id.
		const [first] = got.filter(({ type }) => type === "netsim.simulation.completed.v1");
		await page.getByText("Send events again").click();
		await expect(page.getByRole("button", { name: "Send again" })).toBeDisabled();
		await page.getByLabel("Time (UTC)", { exact: true }).fill(new Date(Date.now() - 3_600_000).toISOString().slice(0, 19));
		await page.getByRole("button", { name: "Send again" }).click();
		await expect(page.getByText("The replay has begun")).toBeVisible();
		await expect.poll(() => got.filter((one) => one.id === first?.id).length).toBe(2);

		await page.getByText("Make a new secret").first().click();
		await page.getByRole("button", { name: "Make a new secret" }).click();
		await expect(shown).toHaveText(/^whsec_/);
		const next = (await shown.textContent()) ?? "";
		expect(next).not.toBe(secret);
		await page.getByRole("button", { name: "Send a test" }).click();
		// The former one signs too.
		await expect.poll(() => got.at(-1)?.signed(next) && got.at(-1)?.signed(secret)).toBe(true);

		// Changed by somebody else meanwhile: what was typed stays, and is saved over what it is by then.
		const path = `webhooks/${page.url().split("/").at(-1)}`;
		await page.getByText("Change where it posts, and what").click();
		await page.getByLabel("Description").fill("mine");
		const now = await page.request.get(`api/v1/${path}`);
		const other = await page.request.patch(`api/v1/${path}`, { data: { description: "theirs" }, headers: { "If-Match": now.headers().etag ?? "" } });
		expect(other.ok()).toBe(true);
		await page.getByRole("button", { name: "Save" }).click();
		await expect(page.getByRole("alert")).toContainText("It was changed meanwhile, and what you typed is still here");
		await expect(page.getByText("theirs")).toBeVisible();
		await expect(page.getByLabel("Description")).toHaveValue("mine");
		await page.getByRole("button", { name: "Save" }).click();
		await expect.poll(async () => (await api(page, path)).description).toBe("mine");
		await accessible(page);

		await page.getByRole("button", { name: "Delete" }).click();
		await page.getByRole("dialog").getByRole("button", { name: "Delete it" }).click();
		await expect(page.getByText("There are no webhooks yet")).toBeVisible();
	} finally {
		server.closeAllConnections();
		server.close();
	}
});

test("a deployment without webhooks says so, and one that refuses says why", async ({ page, refused }) => {
	refused.push("/webhooks");
	await page.route(/\/v1\/webhooks\?/, (route) => route.fulfill({ status: 404, json: { error: { code: "NOT_FOUND", message: "the resource was not found" } } }));
	await page.goto("webhooks");
	await login(page);
	await expect(page.getByText("This deployment sends no webhooks")).toBeVisible();
	await expect(page.getByRole("button", { name: "Create it" })).toHaveCount(0);
	await page.unroute(/\/v1\/webhooks\?/);
	await page.reload();
	await page.getByLabel("URL").fill("https://10.0.0.1:25/hook");
	await page.getByRole("button", { name: "Create it" }).click();
	await expect(page.getByRole("alert")).toContainText("It was not created");
	await expect(page.getByLabel("URL")).toHaveValue("https://10.0.0.1:25/hook");
});
