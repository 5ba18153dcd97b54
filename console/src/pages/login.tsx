import { Navigate } from "@tanstack/react-router";
import { base } from "../api/client";
import { loginLink, useSession } from "../api/session";
import { Page } from "../ui/parts";

/** Leads to the provider's login, and from there back to the page that was asked for. */
export function Login({ next, ended = false }: { next: string; ended?: boolean }) {
	return (
		<Page title="Log in">
			{ended && <p className="banner">Your session has ended. After the login you are on this page again.</p>}
			<p>Simulations, studies and bills belong to an account. Log in to see those of yours.</p>
			<p>
				<a className="button main" href={loginLink(next)}>
					Log in
				</a>
			</p>
		</Page>
	);
}

export function LoginPage() {
	return useSession() ? <Navigate to="/" replace /> : <Login next={base} />;
}
