import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../api/client";
import type { Traceset } from "../api/contract";
import { write } from "../api/json";
import { needsWorkload, promotion, ready, type Said, scopes, wider } from "../lib/promotion";
import { bytes, count } from "../lib/units";
import { tracesetRoute } from "../router";
import { Confirm } from "../ui/confirm";
import { shown } from "../ui/curl";
import { InputTabs } from "../ui/inputs";
import { Facts, Failure, Page, Shown, StatusMark, Time } from "../ui/parts";
import { Table } from "../ui/table";
import { UseIn } from "../ui/useIn";

export function TracesetPage() {
	const { id } = tracesetRoute.useParams();
	const path = { id };
	const traceset = useQuery({
		queryKey: ["traceset", id],
		queryFn: ({ signal }) => call("GetTraceset", { path }, signal),
		refetchInterval: ({ state }) => (state.data && ["uploading", "processing"].includes(state.data.status) ? 1_000 : false),
	});
	return (
		<Page
			title={traceset.data?.name ?? "Traceset"}
			calls={[
				shown("GetTraceset", { path }),
				shown("ValidateTraceset", { path }, "Reads the stored files and checks them."),
				shown("GetTracesetDownload", { path }),
				shown("PromoteTraceset", { path, body: { target: "tenant" } }, "Lets the account see it, then with the target public everyone."),
			]}
		>
			<InputTabs of="files" />
			<Shown of="the traceset" query={traceset}>
				{(one) => (
					<>
						{one.description && (
							<p>
								<bdi>{one.description}</bdi>
							</p>
						)}
						<Facts
							of={[
								["Status", <StatusMark key="status" value={one.status} />],
								["Ranks", one.rankCount === undefined ? "not known yet" : count(one.rankCount)],
								["Size", bytes(one.totalSize)],
								["Seen by", scopes[one.scope]],
								["Created", <Time key="created" at={one.createdAt} />],
								["Expires", one.expiresAt ? <Time key="expires" at={one.expiresAt} /> : "never"],
							]}
						/>
						{one.status === "processing" && <p role="status">The service reads the files now. The page follows it.</p>}
						{one.status === "uploading" && <p>It is being uploaded. Nothing can be said of its content yet.</p>}
						{one.statusMessage && (
							<p className="finding error">
								Its files cannot be used: <bdi>{one.statusMessage}</bdi>
							</p>
						)}
						<Files of={one} />
						{one.workloadMetadata && Object.keys(one.workloadMetadata).length > 0 && (
							<>
								<h2>What is said of the workload</h2>
								<pre tabIndex={0}>{write(one.workloadMetadata)}</pre>
							</>
						)}
						{one.status === "ready" && <Content of={one} />}
						{one.status === "ready" && <UseIn what={{ traceset: id }} />}
						<Promote of={one} />
						<Remove of={one} />
					</>
				)}
			</Shown>
		</Page>
	);
}

function Files({ of: { files } }: { of: Traceset }) {
	return (
		<section aria-labelledby="files">
			<h2 id="files">Files</h2>
			<Table
				label="Table of the files"
				head={["File", "Ranks", "Holds", "Size", "SHA-256"]}
				numbers={["Size"]}
				rows={files.map((file) => ({
					id: file.name,
					cells: [
						file.name,
						file.rankRange ? (file.rankRange.start === file.rankRange.end ? file.rankRange.start : `${file.rankRange.start} to ${file.rankRange.end}`) : "—",
						file.role === "primary" ? "traces of ranks" : "something else",
						bytes(file.size),
						<code key="hash" title={file.hash}>
							{file.hash.replace("sha256:", "").slice(0, 16) || "—"}
						</code>,
					],
				}))}
			/>
		</section>
	);
}

const checks: Record<string, string> = {
	file_integrity: "Files are what was uploaded",
	metadata_complete: "Their content is known",
	topology_correlation: "A topology has room for the ranks",
	ranks: "Ranks are complete",
	readable_files: "Files can be read to their end",
	dependency_graph: "Dependencies have no cycle",
	message_pairing: "Every send has its receive",
	process_groups: "All members of process groups take part",
};

/** What the stored files hold, as the service reads them now. */
function Content({ of: { id } }: { of: Traceset }) {
	const check = useMutation({ mutationFn: () => call("ValidateTraceset", { path: { id } }) });
	const link = useMutation({ mutationFn: () => call("GetTracesetDownload", { path: { id } }), onSuccess: ({ url }) => location.assign(url) });
	return (
		<section aria-labelledby="content">
			<h2 id="content">What it contains</h2>
			<div className="actions">
				<button type="button" disabled={check.isPending} onClick={() => check.mutate()}>
					{check.isPending ? "Reading the files …" : "Read and check the files"}
				</button>
				<button type="button" disabled={link.isPending} onClick={() => link.mutate()}>
					Download
				</button>
			</div>
			{check.error && <Failure of="The files were not checked" error={check.error} />}
			{check.data && (
				<>
					<p role="status">
						<strong>{check.data.valid ? "All checks passed." : "Not all checks passed."}</strong>
					</p>
					<ul className="plain">
						{check.data.checks.map((one) => (
							<li key={one.name}>
								<span className={`status ${one.passed ? "ready" : "invalid"}`}>{one.passed ? "passed" : "failed"}</span> <strong>{checks[one.name] ?? one.name}:</strong> <bdi>{one.message}</bdi>
							</li>
						))}
					</ul>
				</>
			)}
			{link.error && <Failure of="It cannot be downloaded" error={link.error} />}
		</section>
	);
}

/** Lets more see the traceset, by one step. */
function Promote({ of }: { of: Traceset }) {
	const [asking, ask] = useState(false);
	// What is typed outlives a refusal.
	const [said, say] = useState<Said>({ description: of.description ?? "", family: "", model: "" });
	const client = useQueryClient();
	const target = wider(of);
	const promote = useMutation({
		mutationFn: (to: "tenant" | "public") => call("PromoteTraceset", { path: { id: of.id }, body: promotion(of, to, said) }),
		onSuccess: () => Promise.all([["traceset", of.id], ["tracesets"]].map((queryKey) => client.invalidateQueries({ queryKey }))),
		onSettled: () => ask(false),
	});
	const field = (name: keyof Said) => ({ value: said[name], onChange: (event: { target: { value: string } }) => say({ ...said, [name]: event.target.value }) });
	if (!target && !promote.error) return null;
	return (
		<>
			<h2>Let more see it</h2>
			{target && (
				<button type="button" onClick={() => ask(true)}>
					Promote it to {scopes[target]}
				</button>
			)}
			{promote.error && <Failure of="It was not promoted" error={promote.error} />}
			{asking && target && (
				<Confirm
					title={`Promote this traceset to ${scopes[target]}?`}
					yes="Promote it"
					no="Leave it as it is"
					busy={promote.isPending}
					ready={ready(of, said)}
					onYes={() => promote.mutate(target)}
					onNo={() => ask(false)}
				>
					<p>
						Now <bdi>{of.name}</bdi> is seen by {scopes[of.scope]}. Then its files, its name and what is said of it are seen by {scopes[target]}.
					</p>
					<p>
						<strong>This cannot be taken back.</strong> The traceset then never expires.
					</p>
					<div className="fields">
						{needsWorkload(of) && (
							<>
								<label>
									Family of the workload (required)
									<input maxLength={2048} required dir="auto" {...field("family")} />
									<span className="quiet">What others look for, such as ring or LLM training. Nothing is said of the workload yet.</span>
								</label>
								<label>
									Name of the model, if it has one
									<input maxLength={2048} dir="auto" {...field("model")} />
								</label>
							</>
						)}
						<label>
							Description
							<textarea rows={3} maxLength={2048} dir="auto" {...field("description")} />
						</label>
					</div>
				</Confirm>
			)}
		</>
	);
}

function Remove({ of: { id, name } }: { of: Traceset }) {
	const [asking, ask] = useState(false);
	const client = useQueryClient();
	const navigate = useNavigate();
	const remove = useMutation({
		mutationFn: () => call("DeleteTraceset", { path: { id } }),
		onSuccess: () => {
			client.invalidateQueries({ queryKey: ["tracesets"] });
			navigate({ to: "/tracesets" });
		},
		onSettled: () => ask(false),
	});
	return (
		<>
			<h2>Delete it</h2>
			<button type="button" onClick={() => ask(true)}>
				Delete this traceset
			</button>
			{remove.error && <Failure of="It was not deleted" error={remove.error} />}
			{asking && (
				<Confirm title="Delete this traceset?" yes="Delete it" busy={remove.isPending} onYes={() => remove.mutate()} onNo={() => ask(false)}>
					<p>
						<bdi>{name}</bdi> is gone at once. Configurations that it is attached to fail validation then. Simulations that run go on.
					</p>
				</Confirm>
			)}
		</>
	);
}
