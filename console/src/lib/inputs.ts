import { day } from "./filters";
import { listed, type Words, words } from "./search";

/** The lists of what simulations are made from, as their filters stand in the address. */
export type ConfigurationFilters = { search?: string; status?: string; workspaceId?: string; createdAfter?: string; createdBefore?: string };
export type TemplateFilters = { search?: string; category?: string };
export type TracesetFilters = { status?: string; workspaceId?: string };

export const configurationStatuses = ["draft", "validated", "invalid"] as const;
export const tracesetStatuses = ["uploading", "processing", "ready", "upload_failed", "metadata_failed"] as const;
export const categories = ["getting-started", "benchmark", "reference-design", "what-if"] as const;

export function readConfigurations(search: Words): ConfigurationFilters {
	const status = listed(words(search, "status").status, configurationStatuses).join(",");
	return { ...words(search, "search"), ...(status && { status }), ...words(search, "workspaceId"), ...day(search, "createdAfter"), ...day(search, "createdBefore") };
}

export function readTemplates(search: Words): TemplateFilters {
	const category = categories.find((one) => one === search.category);
	return { ...words(search, "search"), ...(category && { category }) };
}

export function readTracesets(search: Words): TracesetFilters {
	const status = listed(words(search, "status").status, tracesetStatuses).join(",");
	return { ...(status && { status }), ...words(search, "workspaceId") };
}
