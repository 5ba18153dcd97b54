import type { SimpleSubmission, SimpleWorkload, TopologyConstraints } from "../api/contract";
import { type Words, words } from "./search";

/** A phase of the form. The size is in bytes. */
export type Phase = { operation: string; algorithm?: string; bytes: number };

/** The simple form as it stands in its address. Phases are allReduce:ring:1048576,… */
export type Form = { name?: string; ranks?: string; phases?: string; radix?: string; subscription?: string };

export const radixes = ["64x800G", "128x400G", "256x200G"] as const;
export const subscriptions = ["1:1", "2:1", "3:1", "4:1"] as const;
export const defaultRanks = "64";
export const sizes = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096];

export function readSubmission(search: Words): Form {
	return words(search, "name", "ranks", "phases", "radix", "subscription");
}

export function readPhases(text: string | undefined): Phase[] {
	return (text ?? "allReduce::1048576").split(",").map((phase) => {
		const [operation = "", algorithm, size] = phase.split(":");
		return { operation, ...(algorithm && { algorithm }), bytes: /^\d{1,13}$/.test(size ?? "") ? Number(size) : 0 };
	});
}

export function writePhases(phases: Phase[]): string {
	return phases.map((phase) => `${phase.operation}:${phase.algorithm ?? ""}:${phase.bytes}`).join(",");
}

/** The request of the form. */
export function submission(form: Form): SimpleSubmission {
	return {
		...(form.name && { name: form.name }),
		workload: {
			ranks: Number(form.ranks ?? defaultRanks),
			phases: readPhases(form.phases).map((phase) => ({
				operationType: phase.operation,
				...(phase.algorithm && { algorithm: phase.algorithm }),
				dataSize: phase.bytes,
			})),
		},
		...((form.radix || form.subscription) && {
			topologyConstraints: {
				...(form.radix && { switchRadix: form.radix as (typeof radixes)[number] }),
				...(form.subscription && { subscriptionRatio: form.subscription as (typeof subscriptions)[number] }),
			},
		}),
	};
}

/**
 * The form of a simple submission as the event that began its run has it, in JSON with all of its
 * defaults. Undefined if the form cannot say it: it has one group.
 */
export function formOf(simple: string, name: string): Form | undefined {
	const { groups, topologyConstraints }: { groups: { count: number; groupSize: number; phases: SimpleWorkload["phases"] }[]; topologyConstraints: TopologyConstraints } = JSON.parse(simple);
	const [group, ...others] = groups;
	if (group?.count !== 1 || others.length > 0) return undefined;
	return {
		name,
		ranks: String(group.groupSize),
		phases: writePhases(group.phases.map(({ operationType, algorithm, dataSize }) => ({ operation: operationType, ...(algorithm && { algorithm }), bytes: dataSize }))),
		...(topologyConstraints.switchRadix && { radix: topologyConstraints.switchRadix }),
		...(topologyConstraints.subscriptionRatio && { subscription: topologyConstraints.subscriptionRatio }),
	};
}

/** What the start page offers: each is a question that its result answers. */
export const presets: { title: string; question: string; form: Form }[] = [
	{
		title: "Gradients of a small cluster",
		question: "How long does an allReduce of 1 MiB take on 64 ranks?",
		form: { name: "first-run", ranks: "64", phases: "allReduce::1048576" },
	},
	{
		title: "Is 4:1 too thin?",
		question: "What does oversubscription cost an allToAll of 64 MiB on 256 ranks?",
		form: { name: "thin-fabric", ranks: "256", phases: "allToAll::67108864", subscription: "4:1" },
	},
	{
		title: "One step of sharded training",
		question: "How long do allGather and reduceScatter of 16 MiB take on 128 ranks?",
		form: { name: "sharded-step", ranks: "128", phases: "allGather::131072,reduceScatter::16777216" },
	},
];
