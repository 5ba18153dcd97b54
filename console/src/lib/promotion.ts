import type { Traceset, TracesetPromotion, TracesetScope } from "../api/contract";

/** Who sees a traceset of each scope. */
export const scopes: Record<TracesetScope, string> = { workspace: "the members of its workspace", tenant: "everyone in your account", public: "everyone, in other accounts too" };

type Of = Pick<Traceset, "scope" | "status" | "description" | "workloadMetadata">;

/** The scope that a traceset can be promoted to now, if there is one. One step is taken at a time. */
export function wider({ scope, status }: Of): "tenant" | "public" | undefined {
	if (status !== "ready" || scope === "public") return undefined;
	return scope === "workspace" ? "tenant" : "public";
}

/** Whether a promotion has to say what the workload is, because nothing is said of it yet. */
export function needsWorkload({ workloadMetadata }: Of): boolean {
	return Object.keys(workloadMetadata ?? {}).length === 0;
}

export type Said = { description: string; family: string; model: string };

/** Whether a person has said enough. */
export function ready(of: Of, { family }: Said): boolean {
	return !needsWorkload(of) || family.trim() !== "";
}

/** The request of a promotion. What is not said, or is as it was, is left out and stays. */
export function promotion(of: Of, target: "tenant" | "public", said: Said): TracesetPromotion {
	const [description, workloadFamily, modelName] = [said.description.trim(), said.family.trim(), said.model.trim()];
	return {
		target,
		...(description && description !== of.description && { description }),
		...(needsWorkload(of) && { workloadMetadata: { workloadFamily, ...(modelName && { modelName }) } }),
	};
}
