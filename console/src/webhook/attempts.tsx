import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { call } from "../api/client";
import type { WebhookAttempt } from "../api/contract";
import { count } from "../lib/units";
import { attemptWords, outcomeWords } from "../lib/webhooks";
import { VirtualList } from "../ui/list";
import { Field, Shown, Time } from "../ui/parts";

/** What was posted, the newest first, and what waits. */
export function Attempts({ of }: { of: string }) {
	const attempts = useInfiniteQuery({
		queryKey: ["webhook", of, "attempts"],
		queryFn: ({ pageParam, signal }) => call("ListWebhookAttempts", { path: { webhook_id: of }, query: { cursor: pageParam, limit: 100 } }, signal),
		initialPageParam: undefined as string | undefined,
		getNextPageParam: (page) => page.pagination.nextCursor,
		// Who scrolls back reads what was; it would be read again page by page.
		refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : 5_000),
	});
	return (
		<section aria-labelledby="attempts">
			<h2 id="attempts">Attempts</h2>
			<Shown of="the attempts" query={attempts}>
				{(data) => {
					const rows = data.pages.flatMap((page) => page.attempts);
					const { waiting, delivered, failed, givenUp } = data.pages[0]?.counts ?? { waiting: 0, delivered: 0, failed: 0, givenUp: 0 };
					return (
						<>
							<p>
								{count(waiting)} {waiting === 1 ? "message waits" : "messages wait"}. Of the attempts that are kept {count(delivered)} delivered, {count(failed)} failed, {count(givenUp)} failed for
								the last time.
							</p>
							{rows.length === 0 ? (
								<p>Nothing was posted yet. A test posts a message at once.</p>
							) : (
								<VirtualList
									label="Attempts"
									columns={["Event", "Outcome", "Answer", "Attempt", "When"]}
									rows={rows}
									id={({ messageId, attempt, startedAt }) => `${messageId} ${attempt} ${startedAt}`}
									cells={cells}
									pages={attempts}
								/>
							)}
						</>
					);
				}}
			</Shown>
		</section>
	);
}

function cells(row: WebhookAttempt) {
	return [
		row.stream ? (
			<Link key="event" to="/streams/$id" params={{ id: row.stream }} title={row.messageId}>
				<Field>{row.eventType}</Field>
			</Link>
		) : (
			<span key="event" title={row.messageId}>
				<Field>{row.eventType}</Field>
			</span>
		),
		<Outcome key="outcome" of={row} />,
		<Answer key="answer" of={row} />,
		row.attempt === 0 ? "a test" : count(row.attempt),
		<Time key="when" at={row.startedAt} />,
	];
}

export function Outcome({ of: { outcome } }: { of: Pick<WebhookAttempt, "outcome"> }) {
	return <span className={`status ${outcome}`}>{outcomeWords[outcome]}</span>;
}

export function Answer({ of }: { of: WebhookAttempt }) {
	return (
		<>
			<bdi className="name">{attemptWords(of)}</bdi>
			{of.excerpt && (
				<>
					{" "}
					<bdi className="quiet name">“{of.excerpt}”</bdi>
				</>
			)}
		</>
	);
}
