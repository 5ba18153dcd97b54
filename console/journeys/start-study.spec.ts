import { accessible, api, expect, login, test } from "./journey";

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
	await expect(axis.getByText("2 values: 1 MiB, 16 MiB")).toBeVisible();
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

test("a sample of a submission is forecast and started, and a refusal is at the field that it names", async ({ page, refused }) => {
	refused.push("studies/preview");
	await page.goto("studies/new?study=sampled&axes=workload.ranks=8,16,32;topologyConstraints.subscriptionRatio=1:1,2:1,4:1");
	await login(page);
	const forecast = page.getByRole("region", { name: "Forecast" });
	await expect(forecast).toContainText(/Points\s*9/);
	await page.getByLabel("Method").selectOption("sample");
	await expect(page).toHaveURL(/method=sample.*samples=9/);
	const samples = page.getByLabel(/^Samples/);
	await samples.fill("10");
	await expect(page.locator("label", { hasText: /^Samples/ }).locator(".finding.error")).toContainText("samples must be between 1 and 9");
	await expect(samples).toHaveAttribute("aria-invalid", "true");
	await samples.fill("2");
	await expect(samples).toHaveAttribute("aria-invalid", "false");
	await page.getByLabel(/^Seed of the sample/).fill("7");
	await expect(forecast).toContainText(/Points\s*2/);
	await accessible(page);

	// A list needs as many values of each axis, and says so at the axis that has others.
	await page.getByLabel("Method").selectOption("list");
	await expect(forecast).toContainText(/Points\s*3/);
	const second = page.getByRole("group", { name: "Axis 2" });
	await second.getByLabel(/^Values/).fill("1:1, 2:1");
	await expect(second.locator(".finding.error")).toContainText("must have 3 values");
	await second.getByLabel(/^Values/).fill("1:1, 2:1, 4:1");
	await expect(forecast).toContainText(/Points\s*3/);
	// A further axis has as many, all of them what the base has, and changes nothing until a person does.
	await page.getByRole("button", { name: "Add an axis" }).click();
	const third = page.getByRole("group", { name: "Axis 3" });
	await expect(third.getByLabel(/^Values/)).toHaveValue("128x400G, 128x400G, 128x400G");
	await third.getByLabel("Field").selectOption("Size of phase 1");
	await expect(third.getByLabel(/^Values/)).toHaveValue("1 MiB, 1 MiB, 1 MiB");
	await expect(page).toHaveURL(/dataSize/);
	await expect(forecast).toContainText(/Points\s*3/);
	await expect(page.locator(".finding.error, [role=alert]")).toHaveCount(0);
	await third.getByRole("button", { name: "Remove axis 3" }).click();
	await page.getByLabel("Name", { exact: true }).fill("a name");
	await expect(page.locator("label", { hasText: /^Name/ }).locator(".finding.error")).toContainText("letters, digits");
	await page.getByLabel(/^Name/).fill("sampled");

	await page.getByLabel("Method").selectOption("sample");
	await samples.fill("2");
	await page.getByLabel(/^Seed of the sample/).fill("7");
	await page.reload();
	await expect(samples).toHaveValue("2");
	await page.getByRole("button", { name: "Start the study" }).click();
	await expect(page.getByRole("heading", { level: 1, name: "sampled" })).toBeVisible();
	const study = await api(page, `studies/${page.url().split("/").at(-1)}`);
	expect(study).toMatchObject({ method: "sample", seed: 7, points: 2 });
	await expect(page.getByText("2 points of a sample with the seed 7")).toBeVisible();
});

test("a study starts from the page of a configuration, over a parameter of it", async ({ page, refused }) => {
	refused.push("studies/preview");
	await page.goto("configurations");
	await login(page);
	const { templates } = await api(page, "templates?search=Single%20rack");
	const { id } = await api(page, `templates/${templates[0].id}/clone`, { name: "varied rack" });
	await page.goto(`configurations/${id}`);
	await page.getByRole("link", { name: "Start a study" }).click();
	await expect(page.getByLabel("Name", { exact: true })).toHaveValue("varied-rack");
	await expect(page.getByLabel(/^Configuration/)).toHaveValue(id);
	const forecast = page.getByRole("region", { name: "Forecast" });
	await expect(forecast).toContainText(/Points\s*2/);

	const axis = page.getByRole("group", { name: "Axis 1" });
	await axis.getByLabel("Field").selectOption("nic: NetworkInterface › UplinkNetworkInterface › DataRate");
	await expect(axis.getByText("Allowed: 1 Mbps to 10 Tbps.")).toBeVisible();
	await axis.getByLabel("Values in Gbps").fill("0, 200");
	await expect(axis.locator(".finding.error")).toContainText("set it to between 1 Mbit/s and 10 Tbit/s");
	await axis.getByLabel("Values in Gbps").fill("100, 200");
	await page.getByLabel(/^Version/).fill("9");
	await expect(page.locator("label", { hasText: /^Version/ }).locator(".finding.error")).toContainText("has no version 9");
	await page.getByLabel(/^Version/).fill("1");
	await page.getByLabel(/^Longest simulated time/).fill("1y");
	await expect(page.locator("label", { hasText: /^Longest simulated time/ }).locator(".finding.error")).toContainText("must be a duration");
	await page.getByLabel(/^Longest simulated time/).fill("1s");
	await expect(forecast).toContainText(/Points\s*2/);
	await expect(page).toHaveURL(/version=1.*duration=1s/);
	await accessible(page);
	await page.reload();
	await expect(page.getByLabel(/^Longest simulated time/)).toHaveValue("1s");

	await page.getByRole("button", { name: "Start the study" }).click();
	await expect(page.getByRole("heading", { level: 1, name: "varied-rack" })).toBeVisible();
	await expect(page.locator(".headline .status")).toHaveText("completed", { timeout: 60_000 });
	const study = await api(page, `studies/${page.url().split("/").at(-1)}`);
	expect(study.base).toEqual({ configuration: { configurationId: id, configurationVersion: 1, duration: "1s" } });
	await expect(page.getByRole("table", { name: "Points" }).getByRole("row")).toHaveCount(3);
	await expect(page.getByText("It varies version 1 of varied rack, each run for at most 1s")).toBeVisible();
	// The points have no units, and the page those of the parameter.
	await expect(
		page
			.getByRole("table", { name: "Points" })
			.getByRole("cell", { name: "Gbit/s" })
			.filter({ hasText: /^[12]00\sGbit\/s$/ }),
	).toHaveText(["100\u00a0Gbit/s", "200\u00a0Gbit/s"]);
	await page.setViewportSize({ width: 390, height: 844 });
	expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);

	// The other way: the form finds a configuration by its name, and the address has no axes of another base.
	await page.goto("studies/new");
	await page.getByLabel(/^Base/).selectOption("a configuration");
	await expect(forecast).toContainText("Choose a configuration first");
	await expect(page.getByRole("button", { name: "Start the study" })).toBeDisabled();
	await page.getByLabel("Search configurations").fill("varied rack");
	await page.getByLabel(/^Configuration/).selectOption(id);
	await expect(forecast).toContainText(/Points\s*2/);
	// Ids are chosen by names.
	await axis.getByLabel("Field").selectOption("Template");
	await axis.getByLabel("Add a template").selectOption({ label: templates[0].name });
	await expect(axis.getByText(`1 value: ${templates[0].name}`)).toBeVisible();
	await expect(axis.getByLabel(/^Values/)).toHaveValue(templates[0].id);
	await axis.getByLabel("Field").selectOption("Mapping file");
	await axis.getByLabel("Add a mapping file").selectOption("no mapping file");
	await expect(axis.getByText("1 value: none")).toBeVisible();
	await accessible(page);
	await page.getByLabel(/^Base/).selectOption("a simple submission");
	await expect(forecast).toContainText(/Points\s*3/);
	await expect(page).not.toHaveURL(/configuration/);
});
