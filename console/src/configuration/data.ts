import { queryOptions } from "@tanstack/react-query";
import { callTagged } from "../api/client";
import type { ValidationReport } from "../api/contract";

/** A configuration with all that it declares, and the tag of its version. */
export const configurationQuery = (id: string) =>
	queryOptions({
		queryKey: ["configuration", id, "current"],
		queryFn: ({ signal }) => callTagged("GetConfiguration", { path: { config_id: id }, query: { include: "all" } }, { signal }),
	});

/** The report of a validation is in its reply only, so it is kept here until the version changes. */
export const reportKey = (id: string, version: number) => ["configuration", id, "report", version];
export type Report = ValidationReport;
