import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { call } from "../api/client";
import { Name } from "./parts";

/** Leads to a configuration, by its name; by its id until that is known, or if it is deleted. */
export function ConfigurationLink({ id }: { id: string }) {
	const { data } = useQuery({
		queryKey: ["configuration", id, "name"],
		queryFn: async ({ signal }) => (await call("GetConfiguration", { path: { config_id: id } }, signal)).name,
		staleTime: 60_000,
		retry: false,
	});
	return (
		<Link to="/configurations/$id" params={{ id }} title={id}>
			<Name>{data ?? id}</Name>
		</Link>
	);
}
