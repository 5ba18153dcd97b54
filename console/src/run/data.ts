import { useQuery } from "@tanstack/react-query";
import { call, download } from "../api/client";
import type { ResultMetric } from "../api/contract";
import { parse } from "../api/json";

/** The results of a run: one page of files, and what they amount to. */
export function useResults(id: string, on = true) {
	return useQuery({
		queryKey: ["results", id],
		queryFn: ({ signal }) => call("GetResults", { path: { sim_id: id }, query: { limit: 100 } }, signal),
		enabled: on,
	});
}

/** summary.json, as far as pages read it. docs/engine.md explains its members. */
export type Summary = {
	simulatedTimePs: number | bigint;
	throughputBps: number | bigint;
	payloadBytes: number | bigint;
	transfers: number | bigint;
	collectives: number;
	ranks: number;
	reading: string[];
	linkUtilization: { tier: string; uldl: string; interfaces: number; meanPercent: number; p99Percent: number; maxPercent: number }[];
	limitedBy: { kind: string; tier?: string; uldl?: string; flowTimePercent: number }[];
	stragglers?: { medianComputeTimeUs: number; count: number; ranks: { rank: number; computeTimeUs: number; medianRatio: number }[] };
};

export function useSummary(id: string, on: boolean) {
	return useQuery({
		queryKey: ["results", id, "summary"],
		queryFn: async ({ signal }) => parse(new TextDecoder().decode(await file(id, "summary.json", signal))) as Summary,
		enabled: on,
		staleTime: Number.POSITIVE_INFINITY,
	});
}

/** A result file, by a link that is fetched now, because links live for a quarter of an hour. */
export async function file(id: string, name: string, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
	const link = await call("GetResultDownload", { path: { sim_id: id }, query: { fileName: name } }, signal);
	return download(link.downloadUrl, signal);
}

/** A computed summary of the results, which the object store has as JSON in Zstandard. */
export function useResultData<T>(id: string, metric: ResultMetric) {
	return useQuery({
		queryKey: ["results", id, metric],
		queryFn: async ({ signal }) => {
			const { file } = await call("GetResultData", { path: { sim_id: id }, query: { metric } }, signal);
			const [packed, { decompress }] = await Promise.all([download(file.downloadUrl, signal), import("fzstd")]);
			return parse(new TextDecoder().decode(decompress(packed))) as T;
		},
		staleTime: Number.POSITIVE_INFINITY,
		retry: false,
	});
}
