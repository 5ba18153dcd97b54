import { write } from "../api/json";
import { operations } from "../api/operations.gen";

/** An operation with what it takes, as a page shows it. */
export type Asked = { operation: keyof typeof operations; path?: Record<string, string | number>; query?: Record<string, unknown>; body?: unknown; says?: string };

/** A program that does the same, in each language with an SDK. */
export type Programs = { python: string; typescript: string; go: string };

// Writes that are offered, and the type of their bodies in Go. Those of no page are left out.
const bodies: Record<string, string> = { PreviewSimple: "SimpleSubmission", SubmitSimple: "SimpleSubmission", PreviewStudy: "StudyStart", StartStudy: "StudyStart" };
// Streams of events are loops of their own, and a bundle is lines to verify: these are left out.
const apart = new Set(["FollowSimulation", "FollowStudy", "FollowEvents", "GetBundle"]);
// Python has a list's page behind page(), and the bytes of a download behind read().
const lists = new Set(
	"GetResults GetLogs GetStream ListBalances ListCauses ListConfigurations ListCosts ListMappingFiles ListRates ListSimulations ListStudies ListTemplates ListTracesets ListWorkspaces".split(" "),
);
const files = new Set(["GetFocusDataset", "GetStudyResultsCsv"]);
// In Go an operation takes nil for its parameters, if it has any; these have none.
const bare = new Set(["PreviewSimple", "PreviewStudy", "ShowLake", "ShowLogCheckpoint", "ShowUpgrade"]);
// Parameters that must be there are no pointers in Go; others have types of their own.
const required = new Set(
	"GetCostSummary.startDate GetCostSummary.endDate ListCosts.startDate ListCosts.endDate GetFocusDataset.startDate GetFocusDataset.endDate GetResultData.metric ListMappingFiles.workspaceId".split(
		" ",
	),
);
const named: Record<string, string> = { "GetConfiguration.include": "GetConfigurationParamsInclude", "GetResultData.mode": "GetResultDataParamsMode", "ListTemplates.category": "TemplateCategory" };
const days = new Set(["startDate", "endDate", "date"]);
const times = new Set(["createdAfter", "createdBefore"]);

type Step = Asked & { values: string[]; given: [string, unknown][]; name: string };

/** Whether an operation is offered in the languages of the SDKs. */
export const offered = (operation: string) => !apart.has(operation) && (operation in bodies || Boolean(operations[operation as Asked["operation"]]?.startsWith("GET ")));

/** What is asked as programs; undefined if nothing of it is offered. The address of the service is written into them, its token is NETSIM_TOKEN. */
export function programs(asked: Asked[], url: string): Programs | undefined {
	const seen: Record<string, number> = {};
	const steps = asked
		.filter(({ operation }) => offered(operation))
		.map((one): Step => {
			const values = [...(operations[one.operation].match(/\{\w+\}/g) ?? [])].map((name) => JSON.stringify(String(one.path?.[name.slice(1, -1)])));
			const given = Object.entries(one.query ?? {}).filter(([, value]) => value !== undefined && value !== "");
			const noun = uncapital(one.operation === "SubmitSimple" ? "run" : one.operation.replace(/^(Get|List|Show|Start|Preview)/, one.operation.startsWith("Preview") ? "Preview" : ""));
			seen[noun] = (seen[noun] ?? 0) + 1;
			return { ...one, values, given, name: seen[noun] > 1 ? noun + seen[noun] : noun };
		});
	return steps.length > 0 ? { python: python(steps, url), typescript: typescript(steps, url), go: go(steps, url) } : undefined;
}

function python(steps: Step[], url: string): string {
	const lines = ["import netsim", "", `client = netsim.Client(${JSON.stringify(url)})  # and the token in NETSIM_TOKEN`];
	for (const { operation, values, given, body, says } of steps) {
		if (says) lines.push(`# ${says}`);
		const words = [...values, ...(body === undefined ? [] : [pythonic(write(body))])];
		for (const [name, value] of given) words.push(`${snake(name) === "from" ? "from_" : snake(name)}=${pythonValue(name, value)}`);
		const method = operation === "SubmitSimple" ? "submit_and_wait" : snake(operation);
		const rest = lists.has(operation) ? ".page()" : files.has(operation) ? ".read().decode()" : "";
		lines.push(`print(client.${method}(${words.join(", ")})${rest})`);
	}
	if (steps.some(({ given }) => given.some(([name]) => days.has(name) || times.has(name)))) lines.unshift("import datetime as dt");
	return lines.join("\n");
}

function typescript(steps: Step[], url: string): string {
	const lines = ['import { Client } from "netsim";', "", `const netsim = new Client({ url: ${JSON.stringify(url)} }); // and the token in NETSIM_TOKEN`];
	for (const { operation, path, given, body, says } of steps) {
		if (says) lines.push(`// ${says}`);
		const args = { ...(path && { path }), ...(given.length > 0 && { query: Object.fromEntries(given) }), ...(body !== undefined && { body }) };
		const call = operation === "SubmitSimple" ? `submitAndWait(${write(body)})` : `api.${uncapital(operation)}(${Object.keys(args).length > 0 ? write(args) : ""})`;
		lines.push(`console.log(await netsim.${call});`);
	}
	return lines.join("\n");
}

function go(steps: Step[], url: string): string {
	const lines: string[] = [];
	for (const { operation, values, given, body, says, name } of steps) {
		if (says) lines.push(`// ${says}`);
		const words = ["ctx", ...values];
		const fields = given.map(([key, value]) => `${field(key)}: ${goValue(`${operation}.${key}`, key, value)}`);
		if (!bare.has(operation) && operation !== "SubmitSimple") words.push(fields.length > 0 ? `&api.${operation}Params{${fields.join(", ")}}` : "nil");
		if (body !== undefined) {
			const text = write(body);
			lines.push(`var ${name}Body api.${bodies[operation]}`, `check(json.Unmarshal([]byte(${text.includes("`") ? JSON.stringify(text) : `\`${text}\``}), &${name}Body))`);
			words.push(`${name}Body`);
		}
		const method = operation === "SubmitSimple" ? "SubmitAndWait" : files.has(operation) ? `HTTP.${operation}` : operation;
		lines.push(`${name}, err := client.${method}(${words.join(", ")})`, "check(err)");
		lines.push(...(files.has(operation) ? [`_, err = io.Copy(os.Stdout, ${name}.Body)`, "check(err)"] : [`check(json.NewEncoder(os.Stdout).Encode(${name}))`]));
	}
	// By what is asked, not by the text: a search may contain anything.
	const timed = steps.some(({ given }) => given.some(([key]) => times.has(key)));
	const typed = steps.some(({ operation, given, body }) => given.length > 0 || body !== undefined || operation === "SubmitSimple");
	const io = steps.some(({ operation }) => files.has(operation));
	const json = steps.some(({ operation }) => !files.has(operation));
	const standard = ["context", json && "encoding/json", io && "io", "log", "os", timed && "time"];
	const ours = ['netsim "netsim/sdk/go"', typed && '"netsim/sdk/go/api"'];
	const imports = [...standard.filter(Boolean).map((path) => `\t"${path}"`), "", ...ours.filter(Boolean).map((path) => `\t${path}`)];
	const begin = ["ctx := context.Background()", `client, err := netsim.New(netsim.Config{URL: ${JSON.stringify(url)}}) // and the token in NETSIM_TOKEN`, "check(err)"];
	const main = [...begin, ...lines].map((line) => `\t${line}`);
	return ["package main", "", "import (", ...imports, ")", "", "func main() {", ...main, "}", "", "func check(err error) {", "\tif err != nil {", "\t\tlog.Fatal(err)", "\t}", "}"].join("\n");
}

const uncapital = (name: string) => name.charAt(0).toLowerCase() + name.slice(1);
const snake = (name: string) => name.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
const field = (name: string) => (name.charAt(0).toUpperCase() + name.slice(1)).replace(/Id$/, "ID");

/** JSON as Python has it. Its strings are the same. */
const pythonic = (text: string) => text.replace(/"(?:[^"\\]|\\.)*"|true|false|null/g, (word) => ({ true: "True", false: "False", null: "None" })[word] ?? word);

function pythonValue(name: string, value: unknown): string {
	const text = pythonic(write(value));
	return days.has(name) ? `dt.date.fromisoformat(${text})` : times.has(name) ? `dt.datetime.fromisoformat(${text})` : text;
}

function goValue(key: string, name: string, value: unknown): string {
	if (typeof value === "boolean") return `new(${value})`;
	if (typeof value === "number") return `new(int64(${value}))`;
	const text = JSON.stringify(String(value));
	if (times.has(name)) return `new(time.UnixMilli(${Date.parse(String(value))}))`;
	if (required.has(key)) return text;
	return named[key] ? `new(api.${named[key]}(${text}))` : `new(${text})`;
}
