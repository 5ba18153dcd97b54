import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useBlocker, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call, callTagged, Refusal, type Tagged } from "../api/client";
import type { Configuration } from "../api/contract";
import { Attached } from "../configuration/attach";
import { Changes } from "../configuration/changes";
import { Conflict } from "../configuration/conflict";
import { configurationQuery, type Report, reportKey } from "../configuration/data";
import { Declare } from "../configuration/declare";
import { entityOf, globals, titleOf } from "../configuration/document";
import { Drawing } from "../configuration/drawing";
import { applied, type Edits, effective, isParameter, ownName, removing, undone, update, wrongChange } from "../configuration/edits";
import { Findings } from "../configuration/findings";
import { Start, simulationName } from "../configuration/start";
import { Parameters, Tree } from "../configuration/tree";
import { Versions } from "../configuration/versions";
import { type ConfigurationSearch, configurationRoute } from "../router";
import { ConfigurationLink } from "../ui/configurationLink";
import { Confirm } from "../ui/confirm";
import { type Call, shown } from "../ui/curl";
import { InputTabs } from "../ui/inputs";
import { Facts, Failure, Page, Shown, StatusMark, Time } from "../ui/parts";

/** Edits that are not saved yet, with the version that they began with. */
type Draft = { base: Tagged<Configuration>; edits: Edits; theirs?: Tagged<Configuration> };

export function ConfigurationPage() {
	const { id } = configurationRoute.useParams();
	const configuration = useQuery(configurationQuery(id));
	const path = { config_id: id };
	return (
		<Page
			title={configuration.data?.data.name ?? "Configuration"}
			calls={[
				shown("GetConfiguration", { path, query: { include: "all" } }),
				shown("ListConfigurationVersions", { path }),
				shown("GetConfigurationDiff", { path }, "What the last version changed."),
				{ ...shown("ValidateConfiguration", { path }), ...(configuration.data && { headers: { "If-Match": configuration.data.etag } }) } as Call,
			]}
		>
			<InputTabs of="configurations" />
			<Shown of="the configuration" query={configuration}>
				{(loaded) => <One key={id} current={loaded} />}
			</Shown>
		</Page>
	);
}

const views = { components: "Components", versions: "Versions", run: "Run it" } as const;

function One({ current }: { current: Tagged<Configuration> }) {
	const { id } = current.data;
	const search = configurationRoute.useSearch();
	const navigate = useNavigate({ from: "/configurations/$id" });
	const show = (change: ConfigurationSearch) => navigate({ search: (old: ConfigurationSearch) => ({ ...old, ...change }), replace: true });
	const client = useQueryClient();
	const [draft, setDraft] = useState<Draft>();
	const base = draft?.base ?? current;
	const edits = draft?.edits ?? {};
	const redraft = (to: Edits) => {
		const changed = effective(base.data, to);
		setDraft(Object.keys(changed).length > 0 ? { base, edits: changed } : undefined);
	};
	const edit = (change: Edits) => redraft({ ...edits, ...change });
	const waiting = Object.keys(edits).length;
	const now = applied(base.data, edits);
	const name = edits[ownName];
	useBlocker({
		shouldBlockFn: ({ current: from, next }) => from.pathname !== next.pathname && !confirm("Leave without saving your changes?"),
		enableBeforeUnload: waiting > 0,
		disabled: waiting === 0,
	});
	const save = useMutation({
		mutationFn: ({ over, kept }: { over: Tagged<Configuration>; kept: Edits }) =>
			callTagged("UpdateConfiguration", { path: { config_id: id }, body: update(over.data, kept) }, { headers: { "If-Match": over.etag } }),
		onSuccess: async () => {
			setDraft(undefined);
			await client.invalidateQueries({ queryKey: ["configuration", id] });
			client.invalidateQueries({ queryKey: ["configurations"] });
			show({ view: "" });
		},
		onError: async (error) => {
			if (!(error instanceof Refusal && (error.status === 412 || error.status === 409))) return;
			// If it was deleted meanwhile, the page says so above the changes.
			const theirs = await client.fetchQuery({ ...configurationQuery(id), staleTime: 0, retry: false }).catch(() => undefined);
			if (!theirs || theirs.etag === base.etag) return;
			setDraft((old) => old && { ...old, theirs });
			show({ view: "conflict" });
		},
	});
	const validate = useMutation({
		mutationFn: async () => {
			// The verdict is about one version, which is the newest and the one that the page then shows.
			const { data, etag } = await client.fetchQuery({ ...configurationQuery(id), staleTime: 0 });
			const path = { config_id: id };
			return { version: data.version, report: (await callTagged("ValidateConfiguration", { path }, { headers: { "If-Match": etag } })).data };
		},
		onSuccess: ({ version, report }) => {
			client.setQueryData(reportKey(id, version), report);
			return client.invalidateQueries({ queryKey: configurationQuery(id).queryKey });
		},
	});
	const report = client.getQueryData<Report>(reportKey(id, base.data.version));
	const findings = report ? [...report.errors, ...report.warnings, ...report.info] : [];
	const bad = Object.entries(edits).filter(([key, change]) => wrongChange(base.data, key, change)).length;
	const conflicting = search.view === "conflict" && draft?.theirs !== undefined;
	const moved = current.etag !== base.etag;
	const failed = save.error && !(conflicting && save.error instanceof Refusal && save.error.status === 412);
	return (
		<>
			<Facts
				of={[
					["Status", <StatusMark key="status" value={current.data.status} />],
					["Version", String(current.data.version)],
					["Modified", <Time key="modified" at={current.data.modifiedAt} />],
					["Components", String(current.data.componentCount)],
					...(current.data.parentConfigurationId ? [["Copied from", <ConfigurationLink key="parent" id={current.data.parentConfigurationId} />] as [string, React.ReactNode]] : []),
				]}
			/>
			{!conflicting && <Acts current={current} busy={validate.isPending} validate={() => validate.mutate()} blocked={waiting > 0} />}
			{validate.error && <Failure of="It was not validated" error={validate.error} />}
			{report && current.etag === base.etag && !conflicting && <Verdict report={report} choose={(component) => show({ view: "", component })} />}
			{search.view === "conflict" && !conflicting && <p className="banner">No conflict is open in this tab. What is below is the configuration as it is now.</p>}
			{waiting > 0 && !conflicting && (
				<div className="banner actions" role="status">
					<span>
						{waiting} {waiting === 1 ? "change is" : "changes are"} not saved{moved && `, and the configuration is at version ${current.data.version} meanwhile`}.
					</span>
					<button type="button" className="main" disabled={save.isPending || bad > 0} onClick={() => save.mutate({ over: base, kept: edits })}>
						{save.isPending ? "Saving …" : "Save"}
					</button>
					<button type="button" disabled={save.isPending} onClick={() => setDraft(undefined)}>
						Discard
					</button>
				</div>
			)}
			{waiting > 0 && !conflicting && <Changes document={base.data} edits={edits} undo={(key) => redraft(undone(edits, key))} />}
			{failed && <Failure of="It was not saved, and your changes are still here" error={save.error} />}
			{conflicting && draft?.theirs ? (
				<Conflict
					key={draft.theirs.etag}
					sides={{ base: draft.base.data, theirs: draft.theirs.data }}
					edits={edits}
					saving={save.isPending}
					save={(kept) => {
						const over = draft.theirs as Tagged<Configuration>;
						if (Object.keys(kept).length > 0) return save.mutate({ over, kept });
						setDraft(undefined);
						show({ view: "" });
					}}
					drop={() => {
						setDraft(undefined);
						show({ view: "" });
					}}
				/>
			) : (
				<>
					<nav className="tabs" aria-label="Views of the configuration">
						{Object.entries(views).map(([view, text]) => (
							<Link
								key={view}
								to="/configurations/$id"
								params={{ id }}
								search={(old: ConfigurationSearch) => ({ ...old, view: view === "components" ? "" : view })}
								className={(search.view ?? "components") === view || (view === "components" && !(search.view && search.view in views)) ? "active" : ""}
								activeProps={{ className: "" }}
							>
								{text}
							</Link>
						))}
					</nav>
					{search.view === "versions" ? (
						<Versions id={id} version={current.data.version} from={search.from} to={search.to} choose={show} />
					) : search.view === "run" ? (
						<>
							<Attached key={current.etag} of={current} traceset={search.traceset} mappingFile={search.mappingFile} />
							<Start configuration={current.data} />
						</>
					) : (
						<>
							<Drawing document={bad > 0 ? base.data : now} />
							<label className="own-name">
								Name
								<input dir="auto" value={isParameter(name) ? name.value : base.data.name} maxLength={255} onChange={(event) => edit({ [ownName]: { value: event.target.value } })} />
							</label>
							<div className="two">
								<div>
									<Tree document={now} chosen={search.component ?? globals} choose={(component) => show({ component })} findings={findings} edits={edits} />
									<Declare now={now} edit={edit} choose={(component) => show({ component })} />
								</div>
								<Parameters
									document={base.data}
									now={now}
									chosen={search.component ?? globals}
									findings={findings}
									edits={edits}
									edit={edit}
									remove={(entity) => redraft(removing(base.data, edits, entity))}
								/>
							</div>
						</>
					)}
				</>
			)}
		</>
	);
}

function Acts({ current: { data, etag }, busy, validate, blocked }: { current: Tagged<Configuration>; busy: boolean; validate: () => void; blocked: boolean }) {
	const client = useQueryClient();
	const navigate = useNavigate();
	const [asking, ask] = useState(false);
	const clone = useMutation({
		mutationFn: () => call("CloneConfiguration", { path: { config_id: data.id }, body: { name: `Copy of ${data.name}`.slice(0, 255).trim() } }),
		onSuccess: (copy) => {
			client.invalidateQueries({ queryKey: ["configurations"] });
			navigate({ to: "/configurations/$id", params: { id: copy.id } });
		},
	});
	const remove = useMutation({
		mutationFn: () => callTagged("DeleteConfiguration", { path: { config_id: data.id } }, { headers: { "If-Match": etag } }),
		onSuccess: () => {
			client.invalidateQueries({ queryKey: ["configurations"] });
			navigate({ to: "/configurations" });
		},
		onSettled: () => ask(false),
	});
	return (
		<>
			<div className="actions">
				<button type="button" disabled={busy || blocked} title={blocked ? "Save or discard your changes first." : undefined} onClick={validate}>
					{busy ? "Validating …" : "Validate"}
				</button>
				<button type="button" disabled={clone.isPending || blocked} title={blocked ? "Save or discard your changes first." : undefined} onClick={() => clone.mutate()}>
					{clone.isPending ? "Copying …" : "Clone"}
				</button>
				<button type="button" onClick={() => ask(true)}>
					Delete
				</button>
				<Link
					to="/studies/new"
					search={{ configuration: data.id, study: simulationName(data.name).slice(0, 200) }}
					className="button"
					disabled={blocked}
					title={blocked ? "Save or discard your changes first." : undefined}
				>
					Start a study
				</Link>
			</div>
			{clone.error && <Failure of="It was not cloned" error={clone.error} />}
			{remove.error && <Failure of="It was not deleted" error={remove.error} />}
			{asking && (
				<Confirm title="Delete this configuration?" yes="Delete it" busy={remove.isPending} onYes={() => remove.mutate()} onNo={() => ask(false)}>
					<p>
						<bdi>{data.name}</bdi> and its {data.version === 1 ? "version" : `${data.version} versions`} are gone then. Simulations hold their own copy and go on.
					</p>
				</Confirm>
			)}
		</>
	);
}

/** The result of a validation. Each finding leads to its place. */
function Verdict({ report, choose }: { report: Report; choose: (component: string) => void }) {
	const all = [...report.errors, ...report.warnings, ...report.info];
	return (
		<section aria-label="Validation" className={report.valid ? "verdict" : "verdict invalid"}>
			<p>
				<strong>{report.valid ? (report.warnings.length > 0 ? "Valid, with warnings." : "Valid.") : "Invalid."}</strong>
			</p>
			<ul className="plain">
				{all.map((finding) => (
					<li key={`${finding.code} ${finding.path} ${finding.message}`}>
						<Findings of={[finding]} />
						{entityOf(finding) !== undefined ? (
							<button type="button" className="link" onClick={() => choose(entityOf(finding) as string)}>
								Show <bdi>{titleOf(entityOf(finding) as string)}</bdi>
							</button>
						) : (
							<code className="quiet">{finding.path}</code>
						)}
					</li>
				))}
			</ul>
		</section>
	);
}
