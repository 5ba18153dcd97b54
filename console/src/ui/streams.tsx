import { Link } from "@tanstack/react-router";

/** The pages of facts, and of where they are posted. */
export function StreamTabs() {
	return (
		<nav className="tabs" aria-label="Streams and webhooks">
			<Link to="/streams">Streams</Link>
			<Link to="/webhooks">Webhooks</Link>
		</nav>
	);
}
