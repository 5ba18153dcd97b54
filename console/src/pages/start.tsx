import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { call } from "../api/client";
import { presets } from "../lib/submission";
import { shown } from "../ui/curl";
import { Name, Page, Shown, StatusMark, Time } from "../ui/parts";

/** A preset, its form, run: three clicks to the first result. */
export function Start() {
	const newest = useQuery({
		queryKey: ["simulations", "newest"],
		queryFn: ({ signal }) => call("ListSimulations", { query: { limit: 5 } }, signal),
	});
	return (
		<Page title="Start" calls={[shown("ListSimulations", { query: { limit: 5 } }), shown("ListTemplates", {}, "Networks to begin with.")]}>
			<Shown of="your simulations" query={newest}>
				{({ simulations }) => (
					<>
						<p>{simulations.length === 0 ? "Your account has no simulations yet. Choose a question; you can change every number before it runs." : "Choose a question, or look at what ran last."}</p>
						<ul className="cards">
							{presets.map((preset) => (
								<li key={preset.title}>
									<Link to="/simulations/new" search={preset.form}>
										<strong>{preset.title}</strong>
										<span>{preset.question}</span>
									</Link>
								</li>
							))}
						</ul>
						{simulations.length > 0 && (
							<>
								<h2>Newest simulations</h2>
								<ul className="plain">
									{simulations.map((one) => (
										<li key={one.id}>
											<Link to="/simulations/$id" params={{ id: one.id }}>
												<Name>{one.name}</Name>
											</Link>{" "}
											<StatusMark value={one.status} /> <Time at={one.createdAt} />
										</li>
									))}
								</ul>
							</>
						)}
					</>
				)}
			</Shown>
		</Page>
	);
}
