import type { EventFamily, Webhook, WebhookAttempt, WebhookCreate, WebhookFilter, WebhookReplay } from "../api/contract";
import { lasting } from "./clock";
import { hard } from "./units";

/** The form of a webhook, as it is typed. Types have commas between. */
export type WebhookForm = { url: string; description: string; types: string; family: string; stream: string; workspace: string };

export const emptyForm: WebhookForm = { url: "", description: "", types: "", family: "", stream: "", workspace: "" };

/** Types of events that most receivers wait for. */
export const offeredTypes = [
	"netsim.simulation.completed.v1",
	"netsim.simulation.failed.v1",
	"netsim.simulation.terminated.v1",
	"netsim.study.completed.v1",
	"netsim.configuration.validated.v1",
	"netsim.traceset.metadata_extracted.v1",
] as const;

export const families = ["simulations", "configurations", "tracesets", "mappingfiles", "workspaces", "billing", "checkpoints"] as const satisfies EventFamily[];

/** A webhook as its form. */
export function formOf({ url, description = "", filter }: Pick<Webhook, "url" | "description" | "filter">): WebhookForm {
	return { url, description, types: (filter.type ?? []).join(", "), family: filter.family ?? "", stream: filter.stream ?? "", workspace: filter.workspace ?? "" };
}

/** The types of a text, each once. */
export function typesOf(text: string): string[] {
	return [...new Set(text.split(",").map((type) => type.trim()))].filter((type) => type !== "");
}

/** The text with the type, or without it if it has it. */
export function turned(text: string, type: string): string {
	const types = typesOf(text);
	return (types.includes(type) ? types.filter((one) => one !== type) : [...types, type]).join(", ");
}

/** The whole of what a form says. */
export function changed(form: WebhookForm): Required<WebhookCreate> {
	const type = typesOf(form.types);
	const filter: WebhookFilter = {
		...(type.length > 0 && { type }),
		...(form.family && { family: form.family as EventFamily }),
		...(form.stream.trim() && { stream: form.stream.trim() }),
		...(form.workspace && { workspace: form.workspace }),
	};
	return { url: form.url.trim(), description: form.description, filter };
}

/** A new webhook, without what the form leaves open. */
export function created(form: WebhookForm): WebhookCreate {
	const { url, description, filter } = changed(form);
	return { url, ...(description && { description }), ...(Object.keys(filter).length > 0 && { filter }) };
}

/** Which events a filter asks for, in words. A workspace has its name, if that is known. */
export function filterWords({ type, family, stream, workspace }: WebhookFilter, name: (workspace: string) => string = (id) => id): string {
	const parts = [type?.join(" or "), family && `of the family ${family}`, stream && `of the stream ${stream}`, workspace && `of the workspace ${name(workspace)}`].filter(Boolean);
	return parts.length > 0 ? parts.join(", ") : "every event that its maker may see";
}

/** From where events are sent again: from a time in UTC, or after a position of the feed. Undefined if it is neither. */
export function replayFrom(from: "since" | "position", text: string): WebhookReplay | undefined {
	if (from === "position") return text.trim() ? { lastEventId: text.trim() } : undefined;
	const at = Date.parse(`${text}Z`);
	return Number.isNaN(at) ? undefined : { since: new Date(at).toISOString() };
}

/** What came of an attempt. */
export function attemptWords({ status, durationMs, error }: Pick<WebhookAttempt, "status" | "durationMs" | "error">): string {
	const took = durationMs === 0 ? `less than 1${hard}ms` : lasting(durationMs / 1000);
	const answer = status === undefined ? `no answer after ${took}` : `answered ${status} after ${took}`;
	// The service says the status again, if that is why.
	return error && !(status !== undefined && error.endsWith(String(status))) ? `${answer}: ${error}` : answer;
}

export const outcomeWords: Record<WebhookAttempt["outcome"], string> = { delivered: "delivered", failed: "failed", givenUp: "given up" };
