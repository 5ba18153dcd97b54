import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { call, callTagged, type Tagged } from "../api/client";
import type { Configuration } from "../api/contract";
import { bytes } from "../lib/units";
import { Failure, Name } from "../ui/parts";

type Props = { of: Tagged<Configuration>; traceset: string | undefined; mappingFile: string | undefined };

/** The traceset that the ranks follow, and the file that says where they run. */
export function Attached({ of: { data: configuration, etag }, traceset, mappingFile }: Props) {
	const client = useQueryClient();
	const { id, workspaceId, activeTraceset, activeMappingFile } = configuration;
	const path = { config_id: id };
	const candidates = useQuery({
		queryKey: ["configuration", id, "candidates"],
		queryFn: ({ signal }) => call("ListTracesetCandidates", { path, query: { status: "completed", limit: 100 } }, signal),
	});
	const files = useQuery({ queryKey: ["mapping-files", workspaceId, "first"], queryFn: ({ signal }) => call("ListMappingFiles", { query: { workspaceId, limit: 100 } }, signal) });
	// What a link to this page names is chosen beforehand, until something is attached.
	const [trace, chooseTrace] = useState(traceset ?? activeTraceset?.id ?? "");
	const [file, chooseFile] = useState(mappingFile ?? activeMappingFile?.id ?? "");
	const changed = () => client.invalidateQueries({ queryKey: ["configuration", id] });
	const headers = { "If-Match": etag };
	const attachTrace = useMutation({
		mutationFn: () => (trace ? callTagged("AttachTraceset", { path, body: { tracesetId: trace } }, { headers }) : callTagged("DetachTraceset", { path }, { headers })),
		onSettled: changed,
	});
	const attachFile = useMutation({
		mutationFn: () => (file ? callTagged("AttachMappingFile", { path, body: { mappingFileId: file } }, { headers }) : callTagged("DetachMappingFile", { path }, { headers })),
		onSettled: changed,
	});
	const listed = candidates.data?.tracesets ?? [];
	const placed = files.data?.items ?? [];
	return (
		<section aria-labelledby="inputs">
			<h2 id="inputs">What runs on it</h2>
			<p>
				Traceset:{" "}
				{activeTraceset ? (
					<Link to="/tracesets/$id" params={{ id: activeTraceset.id }}>
						<Name>{activeTraceset.name}</Name>
					</Link>
				) : (
					"none yet"
				)}
				. Mapping file:{" "}
				{activeMappingFile ? (
					<>
						<Link to="/mapping-files/$id" params={{ id: activeMappingFile.id }}>
							<Name>{activeMappingFile.name}</Name>
						</Link>
						{activeMappingFile.deleted && " (deleted: attach another one, or none)"}
					</>
				) : (
					"none, so ranks are placed in order"
				)}
				.
			</p>
			<form
				className="inline"
				onSubmit={(event) => {
					event.preventDefault();
					attachTrace.mutate();
				}}
			>
				<label>
					Traceset
					<select value={trace} onChange={(event) => chooseTrace(event.target.value)}>
						<option value="">none</option>
						{trace && !listed.some((one) => one.id === trace) && <option value={trace}>{trace === activeTraceset?.id ? activeTraceset.name : trace}</option>}
						{listed.map((one) => (
							<option key={one.id} value={one.id}>
								{one.name} ({bytes(one.totalSize)})
							</option>
						))}
					</select>
				</label>
				<button type="submit" disabled={attachTrace.isPending || trace === (activeTraceset?.id ?? "")}>
					{trace ? "Attach the traceset" : "Detach the traceset"}
				</button>
			</form>
			{attachTrace.error && <Failure of="The traceset stays as it was" error={attachTrace.error} />}
			<form
				className="inline"
				onSubmit={(event) => {
					event.preventDefault();
					attachFile.mutate();
				}}
			>
				<label>
					Mapping file
					<select value={file} onChange={(event) => chooseFile(event.target.value)}>
						<option value="">none</option>
						{file && !placed.some((one) => one.id === file) && <option value={file}>{file === activeMappingFile?.id ? activeMappingFile.name : file}</option>}
						{placed.map((one) => (
							<option key={one.id} value={one.id}>
								{one.name} ({one.rankCount} ranks)
							</option>
						))}
					</select>
				</label>
				<button type="submit" disabled={attachFile.isPending || file === (activeMappingFile?.id ?? "")}>
					{file ? "Attach the mapping file" : "Detach the mapping file"}
				</button>
			</form>
			{attachFile.error && <Failure of="The mapping file stays as it was" error={attachFile.error} />}
			{(candidates.error || files.error) && <p className="quiet">Not all of what can be attached is listed now: {String((candidates.error ?? files.error)?.message)}.</p>}
		</section>
	);
}
