import { useQueries } from "@tanstack/react-query";
import { callTagged } from "../api/client";
import type { Study } from "../api/contract";
import type { Document } from "../configuration/document";
import { isLeaf } from "../configuration/parameters";
import { inputWords } from "./heat";

/** An input of a study in words, by the field of its axis. */
export type InputWords = (field: string, value: unknown) => string;

/** The unit of the parameter whose value a field is, as a document declares it. */
export function unitAt(document: Document, field: string): string | undefined {
	if (!field.endsWith(".value")) return undefined;
	let node: unknown = document;
	for (const [, of, member = ""] of field.slice(0, -".value".length).matchAll(/\[([^\]]+)\]|([^.[\]]+)/g)) {
		if (of === undefined) node = (node as Record<string, unknown> | undefined)?.[member];
		else node = Array.isArray(node) ? (node[Number(of)] ?? node.find((one) => one.name === of)) : undefined;
	}
	return isLeaf(node) ? node.unit : undefined;
}

/** The unit of an axis' values: that of all of the documents. Undefined if they differ, or if another axis is over the unit. */
export function unitOf(documents: Document[], axes: string[], field: string): string | undefined {
	const [unit, ...others] = new Set(documents.map((document) => unitAt(document, field)));
	return others.length > 0 || axes.includes(field.replace(/\.value$/, ".unit")) ? undefined : unit;
}

/** Says inputs of a study with their units. Points have none, so these are those of the documents that they come from: versions of configurations and of templates do not change. */
export function useInputWords({ base: { configuration }, axes }: Pick<Study, "base" | "axes">): InputWords {
	const templates = axes.find(({ field }) => field === "templateId")?.values.map(String);
	const queries = useQueries({
		queries: (!configuration ? [] : (templates ?? [""])).map((template) => ({
			queryKey: ["study", "document", configuration, template],
			queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Document> => {
				if (template) return (await callTagged("GetTemplate", { path: { template_id: template } }, { signal })).data.configuration;
				const path = { config_id: configuration?.configurationId ?? "", version: configuration?.configurationVersion ?? 0 };
				return (await callTagged("GetConfigurationVersion", { path, query: { include: "all" } }, { signal })).data;
			},
			retry: false,
			staleTime: Number.POSITIVE_INFINITY,
		})),
	});
	const documents = queries.flatMap(({ data }) => data ?? []);
	const known = documents.length === queries.length; // a template may be gone
	const fields = axes.map(({ field }) => field);
	return (field, value) => inputWords(field, value, known ? unitOf(documents, fields, field) : undefined);
}
