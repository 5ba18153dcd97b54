import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call, callTagged, type Tagged } from "../api/client";
import type { Webhook } from "../api/contract";
import { Confirm } from "../ui/confirm";
import { Failure } from "../ui/parts";
import { Answer, Outcome } from "./attempts";

/** Takes what an act replied as the webhook that is shown, without a secret, and reads what follows from it again. */
export function useChanged(id: string) {
	const client = useQueryClient();
	return ({ data: { secret: _secret, ...data }, etag }: Tagged<Webhook>) => {
		client.setQueryData<Tagged<Webhook>>(["webhook", id], { data, etag });
		client.invalidateQueries({ queryKey: ["webhook", id] });
		client.invalidateQueries({ queryKey: ["webhooks"] });
	};
}

/** Stops it and lets it go on, tries it, and deletes it. */
export function Acts({ of: { id, url, state } }: { of: Webhook }) {
	const client = useQueryClient();
	const navigate = useNavigate();
	const [asking, ask] = useState(false);
	const path = { webhook_id: id };
	const turn = useMutation({ mutationFn: () => callTagged(state === "active" ? "PauseWebhook" : "ResumeWebhook", { path }), onSuccess: useChanged(id) });
	const test = useMutation({
		mutationFn: () => call("TestWebhook", { path }),
		onSettled: () => client.invalidateQueries({ queryKey: ["webhook", id, "attempts"] }),
	});
	const remove = useMutation({
		mutationFn: () => call("DeleteWebhook", { path }),
		onSuccess: async () => {
			await navigate({ to: "/webhooks" });
			client.removeQueries({ queryKey: ["webhook", id] });
			client.invalidateQueries({ queryKey: ["webhooks"] });
		},
	});
	return (
		<>
			<div className="actions">
				<button type="button" onClick={() => turn.mutate()} disabled={turn.isPending}>
					{state === "active" ? "Pause" : "Resume"}
				</button>
				<button type="button" onClick={() => test.mutate()} disabled={test.isPending}>
					{test.isPending ? "Posting …" : "Send a test"}
				</button>
				<button
					type="button"
					onClick={() => {
						remove.reset();
						ask(true);
					}}
				>
					Delete
				</button>
			</div>
			<div role="status">
				{test.data && (
					<p>
						The test: <Outcome of={test.data} /> <Answer of={test.data} />
					</p>
				)}
			</div>
			{turn.error && <Failure of={state === "active" ? "It was not paused" : "It was not resumed"} error={turn.error} />}
			{test.error && <Failure of="No test was sent" error={test.error} />}
			{asking && (
				<Confirm title="Delete this webhook?" yes="Delete it" busy={remove.isPending} onYes={() => remove.mutate()} onNo={() => ask(false)}>
					<p>
						Nothing more is posted to <bdi className="name">{url}</bdi>, and what waits is not sent.
					</p>
					{remove.error && <Failure of="It was not deleted" error={remove.error} />}
				</Confirm>
			)}
		</>
	);
}
