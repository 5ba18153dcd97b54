import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { type Args, call, type Operation } from "../api/client";
import type { OperatorAct } from "../api/contract";
import { lasting } from "../lib/clock";
import { count } from "../lib/units";
import { Failure } from "../ui/parts";

/** The most that a list of operations shows. */
export const limit = 1000;

/** What an operation for operators shows, read again every few seconds. */
export function useOperations<Name extends Operation>(name: Name, args: Args<Name>) {
	return useQuery({ queryKey: ["operations", name, args], queryFn: ({ signal }) => call(name, args, signal), refetchInterval: 5_000 });
}

/** How far something is behind. */
export function lag({ lagRecords, lagSeconds }: { lagRecords: number; lagSeconds: number }): string {
	return lagRecords === 0 ? "none" : `${count(lagRecords)} ${lagRecords === 1 ? "record" : "records"}, ${lasting(lagSeconds)}`;
}

/** That a list does not show all. */
export function Rest({ shown, total }: { shown: number; total: number }) {
	return total > shown ? (
		<p className="quiet">
			{count(shown)} of {count(total)} are shown.
		</p>
	) : null;
}

/** Data of a fact, which is masked until a person asks for it. */
export function Masked({ of, look }: { of: string; look: () => Promise<{ data: string }> }) {
	const client = useQueryClient();
	const seen = useMutation({ mutationFn: look, onSettled: () => client.invalidateQueries({ queryKey: ["operations", "ListOperatorActs"] }) });
	return (
		<>
			{seen.data ? (
				<>
					<pre tabIndex={0}>{seen.data.data}</pre>
					<button type="button" onClick={() => seen.reset()}>
						Hide
					</button>
				</>
			) : (
				<button type="button" aria-label={`Show the data of ${of}`} onClick={() => seen.mutate()} disabled={seen.isPending}>
					Show the data
				</button>
			)}
			{seen.error && <Failure of="It cannot be shown" error={seen.error} />}
		</>
	);
}

export const maskedNote = "Data of facts is masked. A look at it is recorded in the log as an act of yours, before the data is shown.";

/** A command of an operator, and what became of it. */
export function Act({ text, label, run, done }: { text: string; label: string; run: () => Promise<{ operation: OperatorAct; total: number }>; done: (left: number) => ReactNode }) {
	const client = useQueryClient();
	const act = useMutation({ mutationFn: run, onSettled: () => client.invalidateQueries({ queryKey: ["operations"] }) });
	return (
		<>
			<button type="button" aria-label={label} onClick={() => act.mutate()} disabled={act.isPending}>
				{act.isPending ? "Trying …" : text}
			</button>
			<span role="status">{act.data && <> {done(act.data.total)}</>}</span>
			{act.error && <Failure of="It was not retried" error={act.error} />}
		</>
	);
}
