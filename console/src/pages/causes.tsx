import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { call } from "../api/client";
import { chain, type Tree, trees } from "../lib/causes";
import { count } from "../lib/units";
import { causesRoute } from "../router";
import { shown } from "../ui/curl";
import { Field, Loading, Page, Shown, Time } from "../ui/parts";

const mostPages = 20;

/** What a request caused, from its first fact to the usage that was billed. */
export function Causes() {
	const { id } = causesRoute.useParams();
	const causes = useInfiniteQuery({
		queryKey: ["causes", id],
		queryFn: ({ pageParam, signal }) => call("ListCauses", { path: { correlation_id: id }, query: { cursor: pageParam, limit: 100 } }, signal),
		initialPageParam: undefined as string | undefined,
		getNextPageParam: (page) => page.pagination.nextCursor,
	});
	// A tree is read as a whole, as far as a person reads it.
	const pages = causes.data?.pages.length ?? 0;
	const { hasNextPage, isFetchingNextPage, isError, fetchNextPage } = causes;
	useEffect(() => {
		if (hasNextPage && !isFetchingNextPage && !isError && pages < mostPages) fetchNextPage();
	}, [hasNextPage, isFetchingNextPage, isError, pages, fetchNextPage]);
	return (
		<Page title="What a request caused" calls={[shown("ListCauses", { path: { correlation_id: id } })]}>
			<p className="headline">
				Request <code>{id}</code>
			</p>
			<Shown of="what the request caused" query={causes}>
				{(data) => {
					const nodes = data.pages.flatMap((page) => page.nodes);
					const hidden = data.pages.reduce((sum, page) => sum + page.hidden, 0);
					const streams = new Set(nodes.map((node) => node.stream)).size;
					return (
						<>
							<p>
								{count(nodes.length)} facts in {count(streams)} {streams === 1 ? "stream" : "streams"}
								{hidden > 0 && `; ${count(hidden)} more of your account need another role to be seen`}.
							</p>
							{hasNextPage && pages < mostPages && <Loading of="the rest" />}
							<ol className="causes">
								{trees(nodes).map((tree) => (
									<Chain key={tree.node.id} tree={tree} />
								))}
							</ol>
							{hasNextPage && pages >= mostPages && (
								<button type="button" onClick={() => fetchNextPage()} disabled={isFetchingNextPage}>
									More facts
								</button>
							)}
						</>
					);
				}}
			</Shown>
		</Page>
	);
}

function Chain({ tree }: { tree: Tree }) {
	let stream = "";
	return chain(tree).map(({ node, branches }) => {
		const same = stream === node.stream;
		stream = node.stream;
		return (
			<li key={node.id} className={node.type.startsWith("netsim.billing.") ? "bill" : undefined}>
				<Link to="/streams/$id" params={{ id: node.stream }} search={{ from: String(node.sequence) }}>
					<Field>{node.type}</Field>
				</Link>{" "}
				<span className="quiet">
					{!same && (
						<>
							<bdi>{node.stream}</bdi>{" "}
						</>
					)}
					fact {count(node.sequence)}, <Time at={node.time} />
					{node.actor && (
						<>
							{" by "}
							<bdi>{node.actor}</bdi>
						</>
					)}
				</span>
				{branches.length > 0 && (
					<ol>
						{branches.map((branch) => (
							<Chain key={branch.node.id} tree={branch} />
						))}
					</ol>
				)}
			</li>
		);
	});
}
