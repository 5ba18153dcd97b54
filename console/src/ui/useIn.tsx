import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../api/client";
import { Failure } from "./parts";

/** Leads to a configuration that runs a file. The newest are offered; their list finds the others. */
export function UseIn({ what }: { what: { traceset: string } | { mappingFile: string } }) {
	const [search, setSearch] = useState("");
	const list = useQuery({ queryKey: ["configurations", "use", search], queryFn: ({ signal }) => call("ListConfigurations", { query: { search, limit: 10 } }, signal) });
	const found = list.data?.configurations ?? [];
	return (
		<section aria-labelledby="use">
			<h2 id="use">Run it in a configuration</h2>
			<label className="own-name">
				Search configurations
				<input type="search" value={search} maxLength={100} onChange={(event) => setSearch(event.target.value)} />
			</label>
			{list.error && <Failure of="The configurations cannot be listed" error={list.error} retry={list.refetch} />}
			<ul className="plain">
				{found.map((one) => (
					<li key={one.id}>
						<Link to="/configurations/$id" params={{ id: one.id }} search={{ view: "run", ...what }}>
							<bdi>{one.name}</bdi>
						</Link>
					</li>
				))}
			</ul>
			{list.data && found.length === 0 && (
				<p>
					There is no such configuration. <Link to="/templates">A template</Link> makes one.
				</p>
			)}
		</section>
	);
}
