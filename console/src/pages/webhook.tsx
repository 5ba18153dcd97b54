import { useQuery } from "@tanstack/react-query";
import { callTagged, request } from "../api/client";
import type { Webhook } from "../api/contract";
import { streamElsewhere } from "../lib/elsewhere";
import { count } from "../lib/units";
import { filterWords } from "../lib/webhooks";
import { webhookRoute } from "../router";
import type { Call } from "../ui/curl";
import { Facts, Name, Page, Shown, StatusMark, Time } from "../ui/parts";
import { StreamTabs } from "../ui/streams";
import { useWorkspaces } from "../ui/workspaces";
import { Acts } from "../webhook/acts";
import { Attempts } from "../webhook/attempts";
import { Change, Replay, Rotate } from "../webhook/changes";

/** A webhook: what it posts, what came of it, and what can be done. */
export function WebhookPage() {
	const { id } = webhookRoute.useParams();
	const path = { webhook_id: id };
	const webhook = useQuery({ queryKey: ["webhook", id], queryFn: ({ signal }) => callTagged("GetWebhook", { path }, { signal }) });
	const acts: [string, Call][] = [
		["Stops it.", request("PauseWebhook", { path })],
		["Lets it go on.", request("ResumeWebhook", { path })],
		["Posts a test.", request("TestWebhook", { path })],
		["Posts events again.", request("ReplayWebhook", { path, body: { since: "2026-01-01T00:00:00Z" } })],
		["Makes a new secret.", request("RotateWebhookSecret", { path, body: { overlapSeconds: 86_400 } })],
		["Deletes it.", request("DeleteWebhook", { path })],
	];
	return (
		<Page
			title="Webhook"
			calls={[request("GetWebhook", { path }), request("ListWebhookAttempts", { path, query: { limit: 100 } }), ...acts.map(([says, call]) => ({ ...call, says, act: true }))]}
			elsewhere={streamElsewhere(id)}
		>
			<StreamTabs />
			<Shown of="the webhook" query={webhook}>
				{(tagged) => (
					<>
						<Head of={tagged.data} />
						<Acts of={tagged.data} />
						<Attempts of={id} />
						<h2>Changes</h2>
						<Change of={tagged} />
						<Replay of={tagged.data} />
						<Rotate of={tagged.data} />
					</>
				)}
			</Shown>
		</Page>
	);
}

function Head({ of: { state, stoppedAt, reason, url, description, filter, ...one } }: { of: Webhook }) {
	const workspaces = useWorkspaces();
	return (
		<>
			<p className="headline">
				<StatusMark value={state} />
				{stoppedAt && (
					<>
						{" "}
						<Time at={stoppedAt} />
					</>
				)}{" "}
				· <Name>{url}</Name>
			</p>
			{state === "disabled" && (
				<p className="banner">
					Nothing is posted{reason && ": "}
					{reason && <bdi className="name">{reason}</bdi>}. Resume it to go on where it stopped.
				</p>
			)}
			{description && (
				<p>
					<Name>{description}</Name>
				</p>
			)}
			<Facts
				ids
				of={[
					["Webhook", <code key="id">{one.id}</code>],
					["Events", <Name key="events">{filterWords(filter, (id) => workspaces.data?.workspaces.find((workspace) => workspace.id === id)?.name ?? id)}</Name>],
					["Created by", <code key="by">{one.createdBy}</code>],
				]}
			/>
			<Facts
				of={[
					["Created", <Time key="created" at={one.createdAt} whole />],
					["Modified", <Time key="modified" at={one.modifiedAt} whole />],
					["Secret", `number ${count(one.secretGeneration)}`],
					...(one.overlapEndsAt ? [["The former secret signs until", <Time key="overlap" at={one.overlapEndsAt} whole />] as [string, React.ReactNode]] : []),
					...(one.replayedFrom ? [["Last replay from", <Time key="replay" at={one.replayedFrom} whole />] as [string, React.ReactNode]] : []),
				]}
			/>
		</>
	);
}
