import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../api/client";
import type { Study } from "../api/contract";
import { count } from "../lib/units";
import { Confirm } from "../ui/confirm";
import { Failure } from "../ui/parts";

/** What can be done with a study. An act that is not possible now says why. */
export function Actions({ study }: { study: Study }) {
	const client = useQueryClient();
	const navigate = useNavigate();
	const [asked, ask] = useState<"terminate" | "delete">();
	const path = { study_id: study.id };
	const changed = (now: Study) => {
		ask(undefined);
		client.setQueryData<Study>(["study", study.id], now);
		client.invalidateQueries({ queryKey: ["study", study.id] });
		client.invalidateQueries({ queryKey: ["studies"] });
	};
	// A refusal may be of a study that has gone on since it was read.
	const onError = () => client.invalidateQueries({ queryKey: ["study", study.id], exact: true });
	const terminate = useMutation({ mutationFn: () => call("TerminateStudy", { path }), onSuccess: changed, onError });
	const resume = useMutation({ mutationFn: () => call("ResumeStudy", { path }), onSuccess: changed, onError });
	const remove = useMutation({
		mutationFn: () => call("DeleteStudy", { path }),
		onError,
		onSuccess: async () => {
			await navigate({ to: "/studies" });
			client.removeQueries({ queryKey: ["study", study.id] });
			client.invalidateQueries({ queryKey: ["studies"] });
		},
	});
	const busy = terminate.isPending || resume.isPending || remove.isPending;
	const running = study.status === "running";
	const stopping = study.status === "terminated" && study.progress.unfinished > 0;
	const question = (act: "terminate" | "delete") => {
		terminate.reset();
		remove.reset();
		ask(act);
	};
	return (
		<>
			{running && (
				<button type="button" onClick={() => question("terminate")} disabled={busy}>
					Terminate
				</button>
			)}
			{study.status === "terminated" && (
				<button type="button" onClick={() => resume.mutate()} disabled={busy || stopping} title={stopping ? "Runs of it have not stopped yet" : undefined}>
					{resume.isPending ? "Resuming …" : "Resume"}
				</button>
			)}
			<button type="button" onClick={() => question("delete")} disabled={busy || running} title={running ? "Terminate it first" : undefined}>
				Delete
			</button>
			{resume.error && <Failure of="It was not resumed" error={resume.error} />}
			{asked === "terminate" && (
				<Confirm title="Terminate this study?" yes="Terminate it" busy={terminate.isPending} ready={running} onYes={() => terminate.mutate()} onNo={() => ask(undefined)}>
					<p>
						No more points of <bdi>{study.name}</bdi> are started, and its runs are stopped. Results so far stay; it can be resumed.
					</p>
					{terminate.error && <Failure of="It was not terminated" error={terminate.error} />}
				</Confirm>
			)}
			{asked === "delete" && (
				<Confirm title="Delete this study?" yes="Delete it" busy={remove.isPending} onYes={() => remove.mutate()} onNo={() => ask(undefined)}>
					<p>
						<bdi>{study.name}</bdi> with {count(study.points)} points is gone at once, and its simulations with their results soon. What was billed stays.
					</p>
					{remove.error && <Failure of="It was not deleted" error={remove.error} />}
				</Confirm>
			)}
		</>
	);
}
