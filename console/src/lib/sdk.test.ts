import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { operations } from "../api/operations.gen";
import { type Asked, offered, programs } from "./sdk";

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const sources = { go: read("sdk/go/api/api.gen.go"), python: read("sdk/python/src/netsim/_generated/operations.py"), typescript: read("sdk/typescript/src/generated/client.ts") };
const url = "http://netsim.example";

/** What pages ask of each operation: all parameters that one of them gives. */
const queries: Record<string, Record<string, unknown>> = {
	GetResultData: { metric: "timeline", mode: "perfetto" },
	GetConfiguration: { include: "all" },
	ListTracesets: { status: "ready", limit: 100 },
	GetStream: { from: 3, state: true },
	GetCostSummary: { startDate: "2026-11-01", endDate: "2026-11-26" },
	ListCosts: { startDate: "2026-11-01", endDate: "2026-11-26" },
	GetFocusDataset: { startDate: "2026-11-01", endDate: "2026-11-26" },
	ListRates: { date: "2026-11-26" },
	ListSimulations: { status: "running", search: 'a"b', sort: "created:asc", workspaceId: "workspace_a", createdAfter: "2026-11-01T00:00:00Z", createdBefore: "2026-11-26T00:00:00Z", limit: 100 },
	ListStudies: { status: "running", search: "a", workspaceId: "workspace_a", createdAfter: "2026-11-01T00:00:00Z", createdBefore: "2026-11-26T00:00:00Z", limit: 100 },
	ListConfigurations: { status: "draft", search: "a", workspaceId: "workspace_a", createdAfter: "2026-11-01T00:00:00Z", createdBefore: "2026-11-26T00:00:00Z", limit: 100 },
	ListTemplates: { category: "getting-started", search: "a", limit: 100 },
	ListMappingFiles: { workspaceId: "workspace_a", limit: 100 },
};
const simple = { name: "sizes", workload: { ranks: 8, phases: [{ operationType: "allReduce", dataSize: 1048576 }] } };
const study = { name: "sizes", base: { simple }, axes: [{ field: "workload.ranks", values: [8, 16] }], stopDominated: true };

/** Every operation that a page shows and that is offered, with the parameters that pages give. */
function asked(): Asked[] {
	const pages = readdirSync(new URL("../pages", import.meta.url)).map((name) => read(`console/src/pages/${name}`));
	const shown = new Set(pages.flatMap((text) => [...text.matchAll(/\bshown\("(\w+)"/g)].map(([, name]) => name as Asked["operation"])));
	expect(shown.size).toBeGreaterThan(40);
	return [...shown]
		.sort()
		.filter(offered)
		.map((operation) => {
			const path = Object.fromEntries([...operations[operation].matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => [name, `${name}_a`]));
			const body = operation.endsWith("Simple") ? simple : operation.endsWith("Study") && !operation.startsWith("Get") ? study : undefined;
			return { operation, ...(Object.keys(path).length > 0 && { path }), ...(queries[operation] && { query: queries[operation] }), ...(body && { body }) };
		});
}

test("what is offered is in each SDK, with its parameters", () => {
	const all = asked();
	expect(all.length).toBeGreaterThan(35);
	for (const one of all) {
		const { python = "", typescript = "", go = "" } = programs([one], url) ?? {};
		inPython(one, python);
		inTypeScript(one, typescript);
		inGo(one, go);
	}
});

function inPython({ operation, path = {}, query = {}, body }: Asked, program: string) {
	if (operation === "SubmitSimple") return;
	const [, name = "", words = "", rest = ""] = /client\.(\w+)\((.*?)\)(\.page\(\)|\.read\(\)\.decode\(\))?\)$/.exec(program) ?? [];
	const [, taken = "", kind = ""] = new RegExp(`def ${name}\\(self(.*)\\) -> (.*):\n`).exec(sources.python) ?? [];
	expect(kind, program).not.toBe("");
	expect(rest, program).toBe(kind.startsWith("Paged[") ? ".page()" : kind === "Download" ? ".read().decode()" : "");
	// In the order of the source: those by their place, then those by their names.
	const [places = "", names = ""] = taken.split(", *");
	expect(places.match(/, \w+:/g) ?? [], program).toHaveLength(Object.keys(path).length + (body ? 1 : 0));
	expect(names.split(/, (?=\w+: )/).filter((one) => one && !one.includes("= None") && !words.includes(`${one.split(":")[0]}=`))).toEqual([]);
	const given = [...words.matchAll(/(\w+)=(\w+\.\w+|[\d"TF])/g)];
	expect(given, program).toHaveLength(Object.keys(query).length);
	for (const [, key, form = ""] of given) {
		const type = form.startsWith("dt.") ? form : ({ '"': "(Literal.*)?str", T: "bool", F: "bool" }[form] ?? "int");
		expect(names, program).toMatch(new RegExp(`, ${key}: ${type}( |,|$)`));
	}
}

function inTypeScript({ operation, path = {}, query = {} }: Asked, program: string) {
	if (operation === "SubmitSimple") return;
	const id = /api\.(\w+)\(/.exec(program)?.[1];
	const [, described = ""] = new RegExp(`^ +${id}: (\\{ id: "${id}", .*)`, "m").exec(sources.typescript) ?? [];
	expect(described, program).not.toBe("");
	for (const name of Object.keys(path)) expect(described, program).toContain(`{ name: "${name}", in: "path" }`);
	for (const name of Object.keys(query)) expect(described, program).toContain(`{ name: "${name}", in: "query" }`);
}

function inGo({ operation, path = {}, query = {}, body }: Asked, program: string) {
	if (operation === "SubmitSimple") return;
	const name = /client\.((?:HTTP\.)?\w+)\(ctx/.exec(program)?.[1] ?? "";
	const [, signature = ""] =
		new RegExp(`func \\(${name.startsWith("HTTP.") ? "c \\*Client" : "o \\*Operations"}\\) ${operation}\\(ctx context.Context(.*?), \\w+ \\.\\.\\.RequestEditorFn`).exec(sources.go) ?? [];
	const given = [...Object.keys(path), ...(signature.includes(", params *") ? ["params"] : []), ...(body ? ["body"] : [])];
	expect(signature.match(/, \w+ /g) ?? [], program).toHaveLength(given.length);
	expect(/\(ctx.*(nil|Params\{.*\})/.test(program), program).toBe(signature.includes(", params *"));
	for (const [key, value] of Object.entries(query)) {
		const [, fields = ""] = new RegExp(`^type ${operation}Params struct \\{([^}]*)`, "m").exec(sources.go) ?? [];
		const [, field, pointer, kind = ""] = new RegExp(`^\\s(\\w+) +(\\*?)([\\w.]+) +\`form:"${key}[",]`, "m").exec(fields) ?? [];
		let basic = kind;
		for (let alias = kind; alias; alias = new RegExp(`^type ${alias} = ([\\w.]+)$`, "m").exec(sources.go)?.[1] ?? "") basic = alias;
		const plain = JSON.stringify(String(value));
		const forms: Record<string, string> = { string: plain, int64: `int64(${value})`, bool: `${value}`, "time.Time": `time.UnixMilli(${Date.parse(String(value))})` };
		const form = forms[basic] ?? (pointer ? `api.${basic}(${plain})` : plain);
		expect(program).toContain(`${field}: ${pointer ? `new(${form})` : form}`);
	}
	if (body) expect(sources.go).toMatch(new RegExp(`^type ${operation}JSONRequestBody = ${/Body api\.(\w+)/.exec(program)?.[1]}$`, "m"));
}

test("the programs are those that the checks of the SDKs compile", () => {
	// With UPDATE=1 they are written.
	const path = new URL("../../../sdk/cases/console.json", import.meta.url);
	if (process.env.UPDATE) writeFileSync(path, `${JSON.stringify(programs(asked(), url), null, "\t")}\n`);
	expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(programs(asked(), url));
});

test("a submission waits for its end", () => {
	const body = { ...simple, name: "it's `a`" };
	const { python = "", typescript = "", go = "" } = programs([{ operation: "SubmitSimple", body, says: "Runs it." }], url) ?? {};
	expect(python.split("\n").slice(2)).toEqual([
		`client = netsim.Client("${url}")  # and the token in NETSIM_TOKEN`,
		"# Runs it.",
		'print(client.submit_and_wait({"name":"it\'s `a`","workload":{"ranks":8,"phases":[{"operationType":"allReduce","dataSize":1048576}]}}))',
	]);
	expect(typescript).toContain('await netsim.submitAndWait({"name":"it\'s `a`",');
	expect(go).toContain("run, err := client.SubmitAndWait(ctx, runBody)");
	expect(go).toContain('json.Unmarshal([]byte("{\\"name\\":\\"it\'s `a`\\"');
	expect(read("sdk/go/watch.go")).toContain("func (c *Client) SubmitAndWait(ctx context.Context, submission api.SimpleSubmission,");
	expect(read("sdk/python/src/netsim/client.py")).toContain("def submit_and_wait(");
	expect(read("sdk/typescript/src/client.ts")).toContain("async submitAndWait(submission: SimpleSubmission");
});

test("what is asked twice has two names, and what is no reading is left out", () => {
	const compare = (other: string): Asked => ({ operation: "CompareSimulations", path: { sim_id: "sim_a", other_id: other } });
	const { go = "" } = programs([compare("sim_b"), compare("sim_c")], url) ?? {};
	expect(go.match(/\w+, err := client\.Comp.*/g)).toEqual([
		'compareSimulations, err := client.CompareSimulations(ctx, "sim_a", "sim_b", nil)',
		'compareSimulations2, err := client.CompareSimulations(ctx, "sim_a", "sim_c", nil)',
	]);
	expect(programs([{ operation: "CloneTemplate", path: { template_id: "config_a" }, body: { name: "a" } }, { operation: "GetBundle" }], url)).toBeUndefined();
	// What is searched is no code.
	const searched = programs([{ operation: "ListTemplates", query: { search: "json. io. time. x=dt. true" } }], url);
	expect(searched?.go).not.toMatch(/"(io|time)"/);
	expect(searched?.python).toBe(`import netsim\n\nclient = netsim.Client("${url}")  # and the token in NETSIM_TOKEN\nprint(client.list_templates(search="json. io. time. x=dt. true").page())`);
	const { python = "" } = programs([{ operation: "StartStudy", body: { stopDominated: true, name: "true" } }], url) ?? {};
	expect(python).toContain('client.start_study({"stopDominated":True,"name":"true"})');
});
