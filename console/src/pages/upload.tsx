import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import { random } from "../api/json";
import { type Session, useSession } from "../api/session";
import { clock } from "../lib/clock";
import { bytes, count } from "../lib/units";
import { uploadRoute } from "../router";
import { type Call, shown } from "../ui/curl";
import { useDrop } from "../ui/drop";
import { InputTabs } from "../ui/inputs";
import { Failure, Loading, Page, Time } from "../ui/parts";
import { NoWorkspace, WorkspaceChoice } from "../ui/workspaces";
import { type Kept, type KeptFile, type Kind, matched, readKept, roleOf, slot, storedName, writeKept } from "../upload/kept";
import { OtherFile, open, type Progress, partCount, send } from "../upload/send";

const words = {
	traceset: { title: "Upload a traceset", many: true },
	"mapping-file": { title: "Upload a mapping file", many: false },
} as const;

export function UploadPage() {
	const { kind: asked } = uploadRoute.useSearch();
	const kind: Kind = asked === "mapping-file" ? "mapping-file" : "traceset";
	const session = useSession();
	const calls: Call[] =
		kind === "traceset"
			? [
					shown("OpenTracesetUpload", { body: { name: "ring of two", files: [{ name: "ring.0.et", size: 4096 }] } }, "Then PUT each part at its link, and keep the ETag of each reply."),
					shown("CompleteTracesetUpload", { body: { uploadId: "UPLOAD_ID", files: [{ name: "ring.0.et", parts: [{ partNumber: 1, etag: "ETAG" }] }] } }),
				]
			: [
					shown("OpenMappingFileUpload", { body: { workspaceId: "WORKSPACE_ID", name: "rows.txt", sizeBytes: 4096 } }, "Then PUT each part at its link, and keep the ETag of each reply."),
					shown("CompleteMappingFileUpload", { body: { uploadId: "UPLOAD_ID", parts: [{ partNumber: 1, etag: "ETAG" }] } }),
				];
	return (
		<Page title={words[kind].title} calls={calls}>
			<InputTabs of="files" />
			<NoWorkspace />
			{session ? (
				session.objectStore ? (
					<Uploader key={kind} kind={kind} session={session} />
				) : (
					<Failure of="Nothing can be uploaded" error={new Error("the service names no object store")} />
				)
			) : (
				<Loading of="the session" />
			)}
		</Page>
	);
}

type State = { busy: false; error?: unknown } | { busy: true; progress?: Progress };

function Uploader({ kind, session }: { kind: Kind; session: Session }) {
	const { workspaceId: asked } = uploadRoute.useSearch();
	const place = slot(kind, session.account.id, session.user.id);
	const [kept, setKept] = useState<Kept | undefined>(() => readKept(localStorage, place, clock.now()));
	const [files, setFiles] = useState<File[]>([]);
	const [entries, setEntries] = useState<KeptFile[]>([]);
	const [title, setTitle] = useState("");
	const [workspaceId, setWorkspace] = useState(asked ?? "");
	const [state, setState] = useState<State>({ busy: false });
	const running = useRef<AbortController>(undefined);
	const client = useQueryClient();
	const navigate = useNavigate();
	useEffect(() => () => running.current?.abort(), []);

	const keep = (next: Kept | undefined) => {
		writeKept(localStorage, place, next);
		setKept(next);
	};
	const choose = (chosen: File[]) => {
		setState({ busy: false });
		const all = words[kind].many ? [...files.filter((old) => !chosen.some((one) => one.name === old.name)), ...chosen] : chosen.slice(-1);
		setFiles(all);
		if (kept) return;
		setEntries(
			all.map((file) => {
				const name = storedName(file.name);
				return { local: file.name, name, size: file.size, ...(kind === "traceset" && { role: entries.find((old) => old.local === file.name)?.role ?? roleOf(name) }), etags: [], digest: "" };
			}),
		);
		if (!title && all[0]) setTitle(all[0].name.replace(/(\.\d+)?\.(et|chakra\.json|tar|txt)(\.gz|\.zst)?$/, ""));
	};
	const start = async () => {
		const ends = new AbortController();
		running.current = ends;
		setState({ busy: true });
		try {
			let begun = kept;
			if (!begun) {
				const wanted = { kind, key: random(), title: title.trim(), ...(workspaceId && { workspaceId }), files: entries };
				const { uploadId, expiresAt } = await open(wanted, ends.signal);
				begun = { ...wanted, uploadId, expiresAt };
				keep(begun);
			}
			const { files: ordered } = matched(begun, files);
			const made = await send(begun, ordered, { keep, progress: (progress) => setState({ busy: true, progress }), signal: ends.signal });
			keep(undefined);
			await client.invalidateQueries({ queryKey: [kind === "traceset" ? "tracesets" : "mapping-files"] });
			navigate({ to: kind === "traceset" ? "/tracesets/$id" : "/mapping-files/$id", params: { id: made.id } });
		} catch (error) {
			setState(ends.signal.aborted ? { busy: false } : { busy: false, error });
		}
	};
	const missing = useMemo(() => (kept ? matched(kept, files).missing : []), [kept, files]);
	const empty = entries.find((entry) => entry.size === 0);
	const twice = entries.find((entry, index) => entries.findIndex((one) => one.name === entry.name) !== index);
	const ready = kept ? missing.length === 0 : entries.length > 0 && !empty && !twice && title.trim() !== "" && (kind === "traceset" || workspaceId !== "");
	const needs = kept
		? `choose ${missing.length === 1 ? "this file" : "these files"} again: ${missing.join(", ")}`
		: entries.length === 0
			? "choose a file"
			: empty
				? `${empty.local} is empty`
				: twice
					? `two files would have the name ${twice.name}`
					: "choose a workspace and a name";
	return (
		<>
			{kept && (
				<section className="banner" aria-label="An upload that was begun">
					<p>
						<bdi>{kept.title}</bdi> was begun and is not complete: the store has {partsOf(kept.files).there} of {partsOf(kept.files).all} parts. It ends <Time at={kept.expiresAt} />.
					</p>
					{!state.busy && (
						<button
							type="button"
							onClick={() => {
								keep(undefined);
								setFiles([]);
								setEntries([]);
							}}
						>
							Forget it
						</button>
					)}
				</section>
			)}
			{!state.busy && <Drop many={words[kind].many} choose={choose} again={kept !== undefined} />}
			{!kept && entries.length > 0 && (
				<form
					onSubmit={(event) => {
						event.preventDefault();
						start();
					}}
				>
					<section className="wide" tabIndex={0} aria-label="Files to upload">
						<table>
							<thead>
								<tr>
									<th>File</th>
									<th>Name in the store</th>
									{kind === "traceset" && <th>Holds</th>}
									<th className="number">Size</th>
								</tr>
							</thead>
							<tbody>
								{entries.map((entry) => (
									<tr key={entry.local}>
										<th scope="row">
											<bdi>{entry.local}</bdi>
										</th>
										<td>{entry.name}</td>
										{kind === "traceset" && (
											<td>
												<select
													aria-label={`${entry.local} holds`}
													value={entry.role}
													onChange={(event) => setEntries(entries.map((one) => (one === entry ? { ...one, role: event.target.value as "primary" | "supporting" } : one)))}
												>
													<option value="primary">traces of ranks</option>
													<option value="supporting">something else</option>
												</select>
											</td>
										)}
										<td className="number">{bytes(entry.size)}</td>
									</tr>
								))}
							</tbody>
						</table>
					</section>
					<div className="filters">
						{kind === "traceset" && (
							<label>
								Name of the traceset
								<input dir="auto" value={title} onChange={(event) => setTitle(event.target.value)} maxLength={255} required />
							</label>
						)}
						<WorkspaceChoice value={workspaceId} set={setWorkspace} {...(kind === "traceset" && { none: "that of tracesets" })} />
					</div>
				</form>
			)}
			<div className="actions">
				{state.busy ? (
					<button type="button" onClick={() => running.current?.abort()}>
						Pause
					</button>
				) : (
					<button type="button" className="main" disabled={!ready} onClick={start}>
						{kept ? "Resume" : "Upload"}
					</button>
				)}
				{!ready && !state.busy && (
					<span className="quiet">
						To {kept ? "resume" : "upload"}: {needs}.
					</span>
				)}
			</div>
			{state.busy && <Sending progress={state.progress} />}
			{!state.busy && state.error !== undefined && (
				<>
					<Failure of="The upload was interrupted" error={state.error} />
					{state.error instanceof OtherFile ? (
						<p>Choose the file of before, or forget this upload and begin another one.</p>
					) : (
						<p>What arrived is kept in the store. Resume it here, also after a reload.</p>
					)}
				</>
			)}
		</>
	);
}

function partsOf(files: KeptFile[]): { there: number; all: number } {
	return { there: files.reduce((sum, file) => sum + file.etags.length, 0), all: files.reduce((sum, file) => sum + partCount(file.size), 0) };
}

function Sending({ progress }: { progress: Progress | undefined }) {
	if (!progress) return <Loading of="the upload session" />;
	return (
		<section aria-label="Progress">
			<progress max={progress.total} value={progress.sent} aria-label="Uploaded" />
			<p role="status" aria-live="off">
				{count(Math.floor((progress.sent / progress.total) * 100))} %{progress.file && ": "}
				<bdi>{progress.file}</bdi>
				{progress.note && `. ${progress.note} …`}
			</p>
		</section>
	);
}

/** Where files are dropped or chosen. */
function Drop({ many, choose, again }: { many: boolean; choose: (files: File[]) => void; again: boolean }) {
	const drop = useDrop(choose);
	return (
		<label {...drop}>
			{again ? "Drop the same files here again, or choose them" : many ? "Drop the files here, or choose them" : "Drop the file here, or choose it"}
			<input
				type="file"
				multiple={many}
				onChange={(event) => {
					choose([...(event.target.files ?? [])]);
					event.target.value = "";
				}}
			/>
		</label>
	);
}
