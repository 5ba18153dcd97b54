import { useQuery } from "@tanstack/react-query";
import { call } from "../api/client";
import { useSession } from "../api/session";

/** The workspaces that a person may use. The first hundred are offered. */
export function useWorkspaces() {
	return useQuery({ queryKey: ["workspaces"], queryFn: ({ signal }) => call("ListWorkspaces", { query: { limit: 100 } }, signal), staleTime: 60_000 });
}

/** The choice of a workspace. The one of the address is offered too, even if it is not among the first. */
export function WorkspaceChoice({ value, set, none, label = "Workspace" }: { value: string | undefined; set: (id: string) => void; none?: string; label?: string }) {
	const { data, error } = useWorkspaces();
	const list = data?.workspaces ?? [];
	return (
		<label>
			{label}
			<select value={value ?? ""} onChange={(event) => set(event.target.value)}>
				{none !== undefined && <option value="">{none}</option>}
				{none === undefined && !value && <option value="">choose one</option>}
				{value && !list.some((one) => one.id === value) && <option>{value}</option>}
				{list.map((one) => (
					<option key={one.id} value={one.id}>
						{one.name}
					</option>
				))}
			</select>
			{error && <span className="quiet">The workspaces cannot be listed now.</span>}
		</label>
	);
}

/** Says it to who has access to no workspace at all, because then every list is empty. */
export function NoWorkspace() {
	const session = useSession();
	if (!session || session.workspaces === "*" || session.workspaces.length > 0) return null;
	return <p className="banner">Your login gives access to no workspace, so only what is public is listed, and nothing can be made. Who manages your account can add one.</p>;
}
