import { Link } from "@tanstack/react-router";

/** The pages of what simulations are made from. */
export function InputTabs({ of }: { of: "configurations" | "files" }) {
	return of === "configurations" ? (
		<nav className="tabs" aria-label="Configurations and templates">
			<Link to="/configurations">Configurations</Link>
			<Link to="/templates">Templates</Link>
		</nav>
	) : (
		<nav className="tabs" aria-label="Tracesets and mapping files">
			<Link to="/tracesets">Tracesets</Link>
			<Link to="/mapping-files">Mapping files</Link>
		</nav>
	);
}
