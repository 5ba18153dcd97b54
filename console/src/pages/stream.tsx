import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { call, Refusal } from "../api/client";
import type { StreamFact } from "../api/contract";
import { difference, written } from "../lib/difference";
import { streamElsewhere } from "../lib/elsewhere";
import { count } from "../lib/units";
import { streamRoute } from "../router";
import { shown } from "../ui/curl";
import { Facts, Field, Page, Shown, Time } from "../ui/parts";

/** The facts of a stream in their order, and what each changed of the state that decisions saw. */
export function Stream() {
	const { id } = streamRoute.useParams();
	const search = streamRoute.useSearch();
	const from = /^[1-9]\d{0,14}$/.test(search.from ?? "") ? Number(search.from) : undefined;
	const state = search.state !== "false";
	const stream = useInfiniteQuery({
		queryKey: ["stream", id, from, state],
		queryFn: ({ pageParam, signal }) => call("GetStream", { path: { stream_id: id }, query: { state, from: pageParam ? undefined : from, cursor: pageParam, limit: 50 } }, signal),
		initialPageParam: undefined as string | undefined,
		getNextPageParam: (page) => page.pagination.nextCursor,
		retry: (failures, error) => failures < 3 && error instanceof Refusal && (error.status === 0 || error.status >= 500),
	});
	const tooLong = stream.error instanceof Refusal && stream.error.status === 422;
	return (
		<Page
			title="What happened"
			calls={[shown("GetStream", { path: { stream_id: id }, query: { state, from } })]}
			elsewhere={streamElsewhere(id)}
			actions={
				<Link className="button" to="/streams/$id" params={{ id }} search={{ ...search, state: state ? "false" : "" }}>
					{state ? "Without states" : "With the states before and after"}
				</Link>
			}
		>
			<p className="headline">
				Stream <code>{id}</code>
				{id.startsWith("sim_") && (
					<>
						{" · "}
						<Link to="/simulations/$id" params={{ id }}>
							its page
						</Link>
					</>
				)}
			</p>
			{tooLong && (
				<p className="banner">
					The states of so long a stream are not folded here.{" "}
					<Link to="/streams/$id" params={{ id }} search={{ ...search, state: "false" }}>
						Show its facts without states.
					</Link>
				</p>
			)}
			<Shown of="the stream" query={stream}>
				{(data) => (
					<>
						<p>
							{count(data.pages[0]?.sequence ?? 0)} facts.{" "}
							{from !== undefined && from > 1 && (
								<>
									Shown from fact {count(from)}.{" "}
									<Link to="/streams/$id" params={{ id }} search={{ ...search, from: "" }}>
										From the first
									</Link>
								</>
							)}
						</p>
						{data.pages.some((page) => page.parked) && (
							<p className="banner">A fact of this stream cannot be applied, so its state stands still from there on. Operators can retry it in the machine room.</p>
						)}
						<ol className="facts-of">{data.pages.flatMap((page) => page.facts.map((fact) => <Fact key={fact.id} fact={fact} states={state} />))}</ol>
						{stream.hasNextPage && (
							<button type="button" onClick={() => stream.fetchNextPage()} disabled={stream.isFetchingNextPage}>
								{stream.isFetchingNextPage ? "Loading …" : "More facts"}
							</button>
						)}
					</>
				)}
			</Shown>
		</Page>
	);
}

function Fact({ fact, states }: { fact: StreamFact; states: boolean }) {
	const { position } = fact;
	return (
		<li>
			<h2>
				<span className="quiet">{count(fact.sequence)}</span> <Field>{fact.type}</Field>
			</h2>
			<p className="quiet">
				<Time at={fact.time} />
				{fact.actor && (
					<>
						{" by "}
						<bdi>{fact.actor}</bdi>
					</>
				)}
				{fact.correlationId && (
					<>
						{" · "}
						<Link to="/causes/$id" params={{ id: fact.correlationId }} aria-label={`All that its request caused, fact ${fact.sequence}`}>
							All that its request caused
						</Link>
					</>
				)}
			</p>
			{states && <Changes fact={fact} />}
			<details>
				<summary>The fact</summary>
				<Facts
					ids
					of={[
						["Id", <code key="id">{fact.id}</code>],
						["Recorded", fact.recordedTime],
						["Position in the log", `${position.family}, partition ${count(position.partition)}, offset ${count(position.offset)}`],
						["Version of its data", count(fact.dataVersion)],
						["Hash", <code key="hash">{fact.hash}</code>],
						["Hash of the fact before", fact.previousHash ? <code key="previous">{fact.previousHash}</code> : "none: it is the first"],
						["Request", fact.correlationId ? <code key="request">{fact.correlationId}</code> : "none"],
						["Caused by", fact.causeId ? <code key="cause">{fact.causeId}</code> : "the request itself"],
					]}
				/>
				<pre tabIndex={0}>{fact.dataBase64 ?? written(fact.data, "  ")}</pre>
			</details>
		</li>
	);
}

const most = 40;

/** The members of the state that the fact changed. */
function Changes({ fact }: { fact: StreamFact }) {
	const changes = difference(fact.before, fact.after);
	if (changes.length === 0) return <p>It changed nothing of the state.</p>;
	return (
		<>
			<table className="stacked changes">
				<thead>
					<tr>
						<th scope="col">Member of the state</th>
						<th scope="col">Before</th>
						<th scope="col">After</th>
					</tr>
				</thead>
				<tbody>
					{changes.slice(0, most).map(({ path, before, after }) => (
						<tr key={path}>
							<td data-label="Member">
								<Field>{path}</Field>
							</td>
							<td data-label="Before">{before === undefined ? <span className="quiet">absent</span> : <bdi>{before}</bdi>}</td>
							<td data-label="After">{after === undefined ? <span className="quiet">absent</span> : <bdi>{after}</bdi>}</td>
						</tr>
					))}
				</tbody>
			</table>
			{changes.length > most && <p className="quiet">{count(changes.length - most)} more members changed; the request below has them.</p>}
		</>
	);
}
