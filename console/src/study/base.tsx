import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call, type Tagged } from "../api/client";
import type { Configuration } from "../api/contract";
import { simulationName } from "../configuration/start";
import { defaultDuration, type StudyForm } from "../lib/study";
import { ConfigurationLink } from "../ui/configurationLink";
import { Choice } from "../ui/filters";
import { Failure, Name, Said } from "../ui/parts";
import { SimpleFields } from "../ui/simple";
import type { Says } from "./axes";

type Props = { form: StudyForm; set: (change: StudyForm) => void; says: Says; newest: UseQueryResult<Tagged<Configuration>> };

/** What the axes of a study vary: a simple submission, or a version of a configuration. */
export function Base({ form, set, says, newest }: Props) {
	return (
		<fieldset className="phase">
			<legend>The base, which the axes vary</legend>
			<Choice
				name="Base"
				value={form.base ?? ""}
				values={[
					["", "a simple submission"],
					["configuration", "a configuration"],
				]}
				// The axes of one are not those of the other.
				set={(base) => set({ base, configuration: "", version: "", axes: "" })}
			/>
			{form.base ? <FromConfiguration form={form} set={set} says={says} newest={newest} /> : <SimpleFields form={form} set={set} says={(field) => says(`base.simple.${field}`)} />}
		</fieldset>
	);
}

function FromConfiguration({ form, set, says, newest }: Props) {
	const of = newest.data?.data;
	const said = (member: string) => says(`base.configuration.${member}`);
	return (
		<>
			<Configurations form={form} set={set} says={said} chosen={of?.name} />
			{newest.error && <Failure of="The configuration cannot be read" error={newest.error} retry={newest.refetch} />}
			{form.configuration && !newest.error && (
				<p className="quiet">
					With its traceset and mapping file: <ConfigurationLink id={form.configuration} />
					{of && (
						<>
							{" "}
							has {of.activeTraceset ? "the traceset " : "no traceset"}
							{of.activeTraceset && <Name>{of.activeTraceset.name}</Name>} and {of.activeMappingFile ? "the mapping file " : "no mapping file"}
							{of.activeMappingFile && <Name>{of.activeMappingFile.name}</Name>}.
						</>
					)}
				</p>
			)}
			<label>
				Version
				<input
					type="number"
					min={1}
					max={of?.version}
					value={form.version ?? ""}
					placeholder={of ? `the newest, ${of.version}` : "the newest"}
					aria-invalid={said("configurationVersion") !== undefined}
					onChange={(event) => set({ version: event.target.value })}
				/>
				<span className="quiet">A study keeps the version with which it started.</span>
				<Said of={said("configurationVersion")} />
			</label>
			<label>
				Longest simulated time of each run
				<input value={form.duration ?? defaultDuration} onChange={(event) => set({ duration: event.target.value })} maxLength={64} aria-invalid={said("duration") !== undefined} />
				<span className="quiet">such as 100us, 2s or 1h; at most 24h</span>
				<Said of={said("duration")} />
			</label>
		</>
	);
}

/** The newest configurations that a search finds, and the one that is chosen. */
function Configurations({ form, set, says, chosen }: { form: StudyForm; set: (change: StudyForm) => void; says: Says; chosen: string | undefined }) {
	const [search, setSearch] = useState("");
	const list = useQuery({ queryKey: ["configurations", "use", search], queryFn: ({ signal }) => call("ListConfigurations", { query: { search, limit: 10 } }, signal) });
	const found = list.data?.configurations ?? [];
	const id = form.configuration ?? "";
	const choose = (configuration: string) => {
		const name = found.find((one) => one.id === configuration)?.name;
		set({ configuration, version: "", axes: "", ...(name && !form.study && { study: simulationName(name).slice(0, 200) }) });
	};
	return (
		<>
			<label>
				Search configurations
				<input type="search" value={search} maxLength={100} onChange={(event) => setSearch(event.target.value)} />
			</label>
			{list.error && <Failure of="The configurations cannot be listed" error={list.error} retry={list.refetch} />}
			<label>
				Configuration
				<select value={id} required aria-invalid={says("configurationId") !== undefined} onChange={(event) => choose(event.target.value)}>
					{!id && <option value="">choose one</option>}
					{id && !found.some((one) => one.id === id) && <option value={id}>{chosen ?? id}</option>}
					{found.map((one) => (
						<option key={one.id} value={one.id}>
							{one.name}
						</option>
					))}
				</select>
				{list.data && (
					<span className="quiet">{found.length === 0 ? "The search finds none." : list.data.pagination.hasMore ? "The newest ten that the search finds." : "All that the search finds."}</span>
				)}
				<Said of={says("configurationId")} />
			</label>
		</>
	);
}
