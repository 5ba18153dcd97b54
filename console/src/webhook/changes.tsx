import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { callTagged, Refusal, type Tagged } from "../api/client";
import type { Webhook } from "../api/contract";
import { changed, formOf, replayFrom, type WebhookForm } from "../lib/webhooks";
import { Choice } from "../ui/filters";
import { Failure } from "../ui/parts";
import { useChanged } from "./acts";
import { WebhookFields } from "./fields";
import { useOnce } from "./once";
import { Secret } from "./secret";

/** Changes where it posts, and what. */
export function Change({ of: { data, etag } }: { of: Tagged<Webhook> }) {
	const client = useQueryClient();
	const [typed, type] = useState<Partial<WebhookForm>>({});
	const { id } = data;
	const form = { ...formOf(data), ...typed };
	const done = useChanged(id);
	const save = useMutation({
		mutationFn: () => callTagged("UpdateWebhook", { path: { webhook_id: id }, body: changed(form) }, { headers: { "If-Match": etag } }),
		onSuccess: (reply) => {
			type({});
			done(reply);
		},
		// What was typed stays, over what the webhook is by now.
		onError: (error) => error instanceof Refusal && error.status === 412 && client.invalidateQueries({ queryKey: ["webhook", id], exact: true }),
	});
	const submit = (event: FormEvent) => {
		event.preventDefault();
		save.mutate();
	};
	return (
		<details>
			<summary>Change where it posts, and what</summary>
			<p className="quiet">Messages that wait go to the new URL. A new filter is for what is not read yet.</p>
			<form className="fields" onSubmit={submit}>
				<WebhookFields form={form} set={(change) => type({ ...typed, ...change })} />
				<div className="actions">
					<button type="submit" className="main" disabled={save.isPending || Object.keys(typed).length === 0}>
						{save.isPending ? "Saving …" : "Save"}
					</button>
					<button type="button" disabled={Object.keys(typed).length === 0} onClick={() => type({})}>
						Discard
					</button>
				</div>
			</form>
			{save.error && (
				<Failure
					of={save.error instanceof Refusal && save.error.status === 412 ? "It was changed meanwhile, and what you typed is still here. Look at both, and save again" : "It was not saved"}
					error={save.error}
				/>
			)}
		</details>
	);
}

/** Posts events again. */
export function Replay({ of }: { of: Webhook }) {
	const [from, setFrom] = useState<"since" | "position">("since");
	const [text, setText] = useState("");
	const body = replayFrom(from, text);
	const done = useChanged(of.id);
	const replay = useMutation({
		mutationFn: () => callTagged("ReplayWebhook", { path: { webhook_id: of.id }, body: body ?? {} }),
		onSuccess: done,
	});
	const submit = (event: FormEvent) => {
		event.preventDefault();
		if (body) replay.mutate();
	};
	return (
		<details>
			<summary>Send events again</summary>
			<p className="quiet">All that the filter asks for is posted again from there on. What waits is dropped, because the replay has it. A receiver drops what it has seen by the webhook-id.</p>
			<form className="inline" onSubmit={submit}>
				<Choice
					name="From"
					value={from}
					values={[
						["since", "a time (UTC)"],
						["position", "a position of the feed"],
					]}
					set={(value) => {
						setFrom(value as typeof from);
						setText("");
						replay.reset();
					}}
				/>
				<label>
					{from === "since" ? "Time (UTC)" : "Position: the id of the last event before it"}
					<input
						type={from === "since" ? "datetime-local" : "text"}
						step={1}
						value={text}
						maxLength={2048}
						onChange={(event) => {
							setText(event.target.value);
							replay.reset();
						}}
					/>
				</label>
				<button type="submit" disabled={!body || replay.isPending}>
					Send again
				</button>
			</form>
			<p role="status">{replay.isSuccess && "The replay has begun: see the attempts."}</p>
			{replay.error && <Failure of="Nothing is sent again" error={replay.error} />}
		</details>
	);
}

const overlaps = [
	["86400", "for a day"],
	["3600", "for an hour"],
	["604800", "for seven days"],
	["0", "no longer: others know it"],
];

/** Makes a new secret, which is shown once. */
export function Rotate({ of }: { of: Webhook }) {
	const [overlap, setOverlap] = useState("86400");
	const once = useOnce();
	const done = useChanged(of.id);
	const rotate = useMutation({
		mutationFn: () => {
			const body = { overlapSeconds: Number(overlap) };
			return callTagged("RotateWebhookSecret", { path: { webhook_id: of.id }, body }, { headers: once.headers(body) });
		},
		onSuccess: (reply) => {
			once.replied();
			done(reply);
		},
		gcTime: 0, // the secret is gone with the page
	});
	const submit = (event: FormEvent) => {
		event.preventDefault();
		rotate.mutate();
	};
	return (
		<>
			<details>
				<summary>Make a new secret</summary>
				<form className="inline" onSubmit={submit}>
					<Choice name="The former one signs too" value={overlap} values={overlaps} set={setOverlap} />
					<button type="submit" disabled={rotate.isPending}>
						Make a new secret
					</button>
				</form>
				{rotate.error && <Failure of="The secret is as it was" error={rotate.error} />}
			</details>
			{rotate.data?.data.secret && <Secret of={rotate.data.data.secret} />}
		</>
	);
}
