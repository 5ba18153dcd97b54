import { expect, login, test } from "./journey";

test("a study is varied from a simulation, forecast, and started", async ({ page, refused }) => {
	refused.push("studies/preview");
	await page.goto("simulations/new?ranks=128&name=varied");
	await login(page);
	await page.getByRole("link", { name: "Vary it in a study" }).click();
	await expect(page.getByRole("heading", { name: "New study" })).toBeVisible();
	await expect(page.getByLabel("Name", { exact: true })).toHaveValue("varied");
	await expect(page.getByLabel(/^Ranks/)).toHaveValue("128");

	const forecast = page.getByRole("region", { name: "Forecast" });
	await expect(forecast).toContainText(/Points\s*3/);
	await page.getByRole("button", { name: "Add an axis" }).click();
	const axis = page.getByRole("group", { name: "Axis 2" });
	await axis.getByLabel("Field").selectOption("Size of phase 1");
	await expect(axis.getByText("2: 1 MiB, 16 MiB")).toBeVisible();
	await expect(forecast).toContainText(/Points\s*6/);
	await expect(forecast).toContainText(/CREDIT/);

	// What cannot run says so before anything is started.
	await axis.getByLabel("Field").selectOption("Algorithm of phase 1");
	await axis.getByLabel(/Values/).fill("ring, nonsense");
	await expect(forecast.getByRole("alert")).toContainText("This study cannot run");
	await axis.getByLabel(/Values/).fill("ring");
	await expect(forecast).toContainText(/Points\s*3/);
	await page.getByLabel(/Replicates/).fill("2");
	await expect(forecast).toContainText(/Runs of their own\s*[36]/);
	await page.getByLabel("Stop runs whose point is dominated").check();
	await expect(page).toHaveURL(/replicates=2.*stop=true/);
	await page.reload();
	await expect(page.getByLabel("Stop runs whose point is dominated")).toBeChecked();
	await page.getByLabel(/Replicates/).fill("1");

	await page.getByRole("button", { name: "Start the study" }).click();
	await expect(page.getByRole("heading", { level: 1, name: "varied" })).toBeVisible();
	await expect(page.locator(".headline .status")).toHaveText("completed", { timeout: 60_000 });
	await expect(page.getByRole("table", { name: "Points" }).getByRole("row")).toHaveCount(4);
});
