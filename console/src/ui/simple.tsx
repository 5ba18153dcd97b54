import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/client";
import type { CompatibilityEntry } from "../api/contract";
import { defaultRanks, type Form, type Phase, radixes, readPhases, sizes, subscriptions, writePhases } from "../lib/submission";
import { count, readBytes, sizeText } from "../lib/units";
import { Said, Shown } from "./parts";

/** What the service says of a field of the submission that it refused. */
type Says = (field: string) => string | undefined;
const nothing: Says = () => undefined;

/** The fields of a simple submission, without its name. */
export function SimpleFields({ form, set, says = nothing }: { form: Form; set: (change: Form) => void; says?: Says }) {
	return (
		<>
			<label>
				Ranks
				<select value={form.ranks ?? defaultRanks} onChange={(event) => set({ ranks: event.target.value })}>
					{choices(sizes.map(String), form.ranks).map((ranks) => (
						<option key={ranks}>{ranks}</option>
					))}
				</select>
				<Said of={says("workload.ranks")} />
			</label>
			<Phases value={form.phases} set={(phases) => set({ phases })} says={says} />
			<label>
				Switch radix
				<select value={form.radix ?? ""} onChange={(event) => set({ radix: event.target.value })}>
					<option value="">chosen by the service</option>
					{choices(radixes, form.radix).map((radix) => (
						<option key={radix}>{radix}</option>
					))}
				</select>
				<Said of={says("topologyConstraints.switchRadix")} />
			</label>
			<label>
				Subscription (down : up)
				<select value={form.subscription ?? ""} onChange={(event) => set({ subscription: event.target.value })}>
					<option value="">chosen by the service</option>
					{choices(subscriptions, form.subscription).map((ratio) => (
						<option key={ratio}>{ratio}</option>
					))}
				</select>
				<Said of={says("topologyConstraints.subscriptionRatio")} />
			</label>
		</>
	);
}

/** What is offered, and what the address says beside it: the service says whether that is possible. */
function choices(offered: readonly string[], chosen: string | undefined): string[] {
	return chosen && !offered.includes(chosen) ? [...offered, chosen] : [...offered];
}

function Phases({ value, set, says }: { value: string | undefined; set: (phases: string) => void; says: Says }) {
	const matrix = useQuery({
		queryKey: ["compatibility"],
		queryFn: ({ signal }) => call("GetCompatibility", {}, signal),
		staleTime: Number.POSITIVE_INFINITY,
	});
	const phases = readPhases(value);
	const change = (at: number, phase: Phase) => set(writePhases(phases.map((old, index) => (index === at ? phase : old))));
	return (
		<Shown of="the operations" query={matrix}>
			{({ entries }) => (
				<>
					{phases.map((phase, at) => (
						<fieldset key={at} className="phase">
							<legend>Phase {at + 1}</legend>
							<PhaseFields phase={phase} entries={entries} change={(next) => change(at, next)} says={(member) => says(`workload.phases[${at}].${member}`)} />
							{phases.length > 1 && (
								<button type="button" onClick={() => set(writePhases(phases.filter((_phase, index) => index !== at)))}>
									Remove phase {at + 1}
								</button>
							)}
						</fieldset>
					))}
					<button type="button" onClick={() => set(writePhases([...phases, phases.at(-1) as Phase]))}>
						Add a phase
					</button>
				</>
			)}
		</Shown>
	);
}

function PhaseFields({ phase, entries, change, says }: { phase: Phase; entries: CompatibilityEntry[]; change: (phase: Phase) => void; says: Says }) {
	const entry = entries.find((one) => one.operationType === phase.operation);
	const [size, setSize] = useState(sizeText(phase.bytes));
	const [before, setBefore] = useState(phase.bytes);
	if (phase.bytes !== before) {
		// The address changed by something else than this field.
		setBefore(phase.bytes);
		if (readBytes(size) !== phase.bytes && phase.bytes > 0) setSize(sizeText(phase.bytes));
	}
	const bad = readBytes(size) === undefined;
	return (
		<>
			<label>
				Operation
				<select value={phase.operation} onChange={(event) => change({ operation: event.target.value, bytes: phase.bytes })}>
					{choices(
						entries.map((one) => one.operationType),
						phase.operation,
					).map((operation) => (
						<option key={operation}>{operation}</option>
					))}
				</select>
				<Said of={says("operationType")} />
			</label>
			<label>
				Algorithm
				<select value={phase.algorithm ?? ""} onChange={(event) => change({ operation: phase.operation, bytes: phase.bytes, ...(event.target.value && { algorithm: event.target.value }) })}>
					<option value="">{entry ? `${entry.defaultAlgorithm} (default)` : "default"}</option>
					{choices(entry?.allowedAlgorithms ?? [], phase.algorithm).map((algorithm) => (
						<option key={algorithm}>{algorithm}</option>
					))}
				</select>
				<Said of={says("algorithm")} />
			</label>
			<label>
				{phase.operation === "allGather" ? "Size, from each rank" : "Size, in total"}
				<input
					value={size}
					aria-invalid={bad}
					onChange={(event) => {
						setSize(event.target.value);
						const read = readBytes(event.target.value);
						setBefore(read ?? 0);
						change({ ...phase, bytes: read ?? 0 });
					}}
				/>
				<span className="quiet">{bad ? "This is no size: write it like 1 MiB, 10 MB or 4096." : `${count(phase.bytes)} bytes`}</span>
				{!bad && <Said of={says("dataSize")} />}
			</label>
		</>
	);
}
