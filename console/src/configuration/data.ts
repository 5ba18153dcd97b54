import { queryOptions, useQuery } from "@tanstack/react-query";
import { call, callTagged } from "../api/client";
import type { ValidationReport } from "../api/contract";
import type { Entity } from "./document";

/** A configuration with all that it declares, and the tag of its version. */
export const configurationQuery = (id: string) =>
	queryOptions({
		queryKey: ["configuration", id, "current"],
		queryFn: ({ signal }) => callTagged("GetConfiguration", { path: { config_id: id }, query: { include: "all" } }, { signal }),
	});

/** The report of a validation is in its reply only, so it is kept here until the version changes. */
export const reportKey = (id: string, version: number) => ["configuration", id, "report", version];
export type Report = ValidationReport;

/** What the model of an entity says of its parameters. The catalogue is the same for everyone. */
export function useModel(entity: Entity | undefined) {
	return useQuery({
		queryKey: ["model", entity?.model, entity?.version],
		queryFn: ({ signal }) => call("GetComponent", { path: { component_id: entity?.model ?? "" }, query: { version: entity?.version } }, signal),
		enabled: entity !== undefined && entity.model !== "",
		staleTime: Number.POSITIVE_INFINITY,
	});
}
