import { expect, login, test } from "./journey";

test("an empty account reaches its first result in three clicks", async ({ page }) => {
	await page.goto("");
	await login(page);
	// The journeys' own service is new, and this is the first of them.
	await expect(page.getByText(process.env.NETSIM_JOURNEYS_OWN ? "Your account has no simulations yet" : "Choose a question")).toBeVisible();
	await page.getByRole("link", { name: /Gradients of a small cluster/ }).click();
	await expect(page.getByRole("img", { name: /The fabric: .* hosts/ })).toBeVisible();
	await page.getByRole("button", { name: "Run", exact: true }).click();
	await expect(page.getByRole("heading", { level: 1, name: "first-run" })).toBeVisible();
	await expect(page.getByText(/It takes .* of simulated time/)).toBeVisible({ timeout: 60_000 });
	await expect(page.getByText(/Accuracy:/)).toBeVisible();
});

test("the fabric changes with the form, and a refusal stands where it can be corrected", async ({ page, refused }) => {
	refused.push("simple/simulations/preview");
	await page.goto("simulations/new");
	await login(page);
	const fabric = page.getByRole("img", { name: /The fabric:/ });
	await expect(fabric).toBeVisible();
	const before = await fabric.getAttribute("aria-label");
	await page.getByLabel("Ranks").selectOption("512");
	await expect(fabric).not.toHaveAttribute("aria-label", before ?? "");
	expect(page.url()).toContain("ranks=512");
	await page.getByLabel(/Size/).fill("0");
	await expect(page.getByRole("alert")).toContainText("Change the value that the message names");
	await page.getByLabel(/Size/).fill("2 MiB");
	await expect(page.getByText("2\u202f097\u202f152 bytes")).toBeVisible();
	await expect(page.getByRole("alert")).toBeHidden();
});
