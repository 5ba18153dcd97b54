import { Link } from "@tanstack/react-router";
import { useSession } from "../api/session";
import { Acts } from "../machine/acts";
import { Deployment } from "../machine/deployment";
import { DeadLetters } from "../machine/letters";
import { ParkedFacts } from "../machine/parked";
import { ReadModels } from "../machine/readModels";
import { Work } from "../machine/work";
import { machineRoute } from "../router";
import { type Call, shown } from "../ui/curl";
import { Page } from "../ui/parts";

const views = {
	"": { text: "Read models", View: ReadModels, calls: [shown("ListReadModels", {}), shown("ListStreamFamilies", {})] },
	parked: { text: "Parked facts", View: ParkedFacts, calls: [shown("ListParkedFacts", {})] },
	letters: { text: "Reactions", View: DeadLetters, calls: [shown("ListReactions", {}), shown("ListDeadLetters", {})] },
	work: { text: "Jobs and runs", View: Work, calls: [shown("ListJobs", {}), shown("ListOpenRuns", {})] },
	deployment: { text: "Deployment", View: Deployment, calls: [shown("ShowUpgrade", {}), shown("ShowLogCheckpoint", {}), shown("ListPublicTopics", {}), shown("ShowLake", {})] },
	acts: { text: "What operators did", View: Acts, calls: [shown("ListOperatorActs", {})] },
} satisfies Record<string, { text: string; View: () => React.ReactNode; calls: Call[] }>;

/** The deployment, for people with the role operator. */
export function Machine() {
	const may = useSession()?.roles.includes("operator");
	const { view = "" } = machineRoute.useSearch();
	const { View, calls } = view in views ? views[view as keyof typeof views] : views[""];
	if (!may) {
		return (
			<Page title="Machine room">
				<p>
					The machine room is for people with the role <code>operator</code>, which your login does not have. Who manages the platform can give it to you at the identity provider; then log in again.
				</p>
			</Page>
		);
	}
	return (
		<Page title="Machine room" calls={calls}>
			<nav className="tabs" aria-label="Views of the machine room">
				{Object.entries(views).map(([name, { text }]) => (
					<Link key={name} to="/machine" search={name ? { view: name } : {}} activeOptions={{ exact: true, includeSearch: true, explicitUndefined: true }}>
						{text}
					</Link>
				))}
			</nav>
			<View />
		</Page>
	);
}
