import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { call } from "../api/client";
import type { Simulation } from "../api/contract";
import { inUnits } from "../lib/units";
import { Failure, Shown } from "../ui/parts";
import { Table } from "../ui/table";

/** The result files. A link is fetched when it is used, because it lives for a quarter of an hour. */
export function Files({ run }: { run: Simulation }) {
	const files = useInfiniteQuery({
		queryKey: ["results", run.id, "files"],
		queryFn: ({ pageParam, signal }) => call("GetResults", { path: { sim_id: run.id }, query: { limit: 100, cursor: pageParam } }, signal),
		initialPageParam: undefined as string | undefined,
		getNextPageParam: (page) => page.pagination.nextCursor,
	});
	const open = useMutation({
		mutationFn: (fileName: string) => call("GetResultDownload", { path: { sim_id: run.id }, query: { fileName } }),
		onSuccess: ({ downloadUrl }) => location.assign(downloadUrl),
	});
	return (
		<Shown of="the files" query={files}>
			{(data) => (
				<section aria-label="Files">
					{open.error && <Failure of="The file cannot be downloaded" error={open.error} />}
					<Table
						label="Table of the files"
						head={["File", "Type", "Size"]}
						numbers={["Size"]}
						rows={data.pages
							.flatMap((page) => page.files)
							.map((file) => ({
								id: file.name,
								cells: [
									<button key="name" type="button" className="link" onClick={() => open.mutate(file.name)}>
										{file.name}
									</button>,
									file.type,
									inUnits(file.size),
								],
							}))}
					/>
					{files.hasNextPage && (
						<button type="button" onClick={() => files.fetchNextPage()} disabled={files.isFetchingNextPage}>
							More files
						</button>
					)}
					<h2>Repeat it from its receipt</h2>
					<p>
						<code>receipt.json</code> has the order of the run and the hash of each file. With its inputs beside it, this repeats the run on your machine and compares every byte:
					</p>
					<pre tabIndex={0}>netsim engine run receipt.json --files inputs --out again</pre>
				</section>
			)}
		</Shown>
	);
}
