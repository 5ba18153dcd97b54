import { Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { useSession } from "../api/session";
import { shown } from "../ui/curl";
import { Page } from "../ui/parts";
import { StreamTabs } from "../ui/streams";

/** Leads to the facts of any stream, or to what a request caused, by an id that one has. */
export function Streams() {
	const session = useSession();
	const navigate = useNavigate();
	const [id, setId] = useState("");
	const account = session?.account.id ?? "";
	const request = id.trim() !== "" && !/^(workspace|webhook|config|sim|study|ts|mapfile|upload|acct|platform|checkpoint|operation|seal)_/.test(id.trim());
	const open = (event: FormEvent) => {
		event.preventDefault();
		if (id.trim() === "") return;
		if (request) navigate({ to: "/causes/$id", params: { id: id.trim() } });
		else navigate({ to: "/streams/$id", params: { id: id.trim() } });
	};
	return (
		<Page title="Streams" calls={[shown("GetStream", { path: { stream_id: account }, query: { state: true } }, "The stream of the account, as an example; it needs the role billing.")]}>
			<StreamTabs />
			<p>
				Everything that happened is a fact of the log. A stream has the facts of one thing: of a simulation, a configuration, a workspace, a study, an account. A request's id leads to all facts that
				followed from it, to the usage that was billed.
			</p>
			<form onSubmit={open} className="paste">
				<label>
					Id of a stream or of a request
					<input value={id} onChange={(event) => setId(event.target.value)} maxLength={255} placeholder="sim_… or the X-Request-Id of a reply" spellCheck={false} autoComplete="off" />
				</label>
				<button type="submit" className="main" disabled={id.trim() === ""}>
					{request ? "What the request caused" : "Show the stream"}
				</button>
			</form>
			<p>
				The page of a <Link to="/simulations">simulation</Link> leads to its stream: "What happened".
				{session?.roles.includes("billing") && (
					<>
						{" "}
						Usage and costs are facts of{" "}
						<Link to="/streams/$id" params={{ id: account }}>
							the stream of your account
						</Link>
						.
					</>
				)}
			</p>
		</Page>
	);
}
