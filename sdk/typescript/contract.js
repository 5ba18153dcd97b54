// Prepares the contract for the generator, in place: operations are named as functions are in
// TypeScript, and lists say how they go on.
//
//   node contract.js FILE    the contract in JSON
import { readFileSync, writeFileSync } from "node:fs";

const file = process.argv[2];
const contract = JSON.parse(readFileSync(file, "utf8"));
const resolve = (schema) =>
	schema?.$ref
		? schema.$ref
				.slice(2)
				.split("/")
				.reduce((at, name) => at[name], contract)
		: schema;

for (const methods of Object.values(contract.paths)) {
	for (const operation of Object.values(methods)) {
		if (!operation.operationId) continue;
		operation.operationId = operation.operationId[0].toLowerCase() + operation.operationId.slice(1);
		const page = resolve(operation.responses["200"]?.content?.["application/json"]?.schema)?.properties;
		const pagination = resolve(page?.pagination)?.properties;
		if (!pagination?.nextCursor) continue;
		const lists = Object.keys(page).filter((name) => resolve(page[name]).type === "array");
		if (lists.length !== 1) throw new Error(`${operation.operationId} has the lists ${lists.join(", ")}`);
		operation["x-redoclyPagination"] = { style: "cursor", cursorParam: "next", limitParam: "limit", nextCursor: "/pagination/nextCursor", hasMore: "/pagination/hasMore", items: `/${lists[0]}` };
	}
}
writeFileSync(file, JSON.stringify(contract));
