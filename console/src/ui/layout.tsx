import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ErrorComponentProps, Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { flushSync } from "react-dom";
import { base } from "../api/client";
import { logout, type Session, sessionQuery } from "../api/session";
import { reload } from "../lib/reload";
import { Login } from "../pages/login";
import { Failure, Loading, Name, Page } from "./parts";

const pages = [
	{ to: "/", text: "Start" },
	{ to: "/simulations", text: "Simulations", also: ["/compare"] },
	{ to: "/studies", text: "Studies" },
	{ to: "/configurations", text: "Configurations", also: ["/templates"] },
	{ to: "/tracesets", text: "Tracesets", also: ["/mapping-files", "/upload"] },
	{ to: "/bills", text: "Bills" },
	{ to: "/streams", text: "Streams", also: ["/causes", "/webhooks"] },
	{ to: "/machine", text: "Machine room", role: "operator" },
] as const satisfies { to: string; text: string /** Pages that have no entry of their own. */; also?: string[]; role?: string }[];

/** Every page is in this frame. Without a session the page is the one that leads to the login. */
export function Layout() {
	const session = useQuery(sessionQuery);
	const at = useRouterState({ select: (state) => state.location });
	const main = useRef<HTMLElement>(null);
	const before = useRef(at.pathname);
	const [had, setHad] = useState(false);
	const [leaving, setLeaving] = useState(false);
	if (session.data && !had) setHad(true);
	useEffect(() => {
		// A new page is read from its beginning; a filter is not a new page.
		if (before.current !== at.pathname) main.current?.focus({ preventScroll: true });
		before.current = at.pathname;
	}, [at.pathname]);
	return (
		<>
			<a className="skip" href="#main">
				Skip to the page
			</a>
			<header className="top">
				<Link to="/" className="brand">
					netsim
				</Link>
				{session.data && <Navigation session={session.data} leaving={setLeaving} />}
			</header>
			<Offline />
			<main id="main" ref={main} tabIndex={-1}>
				{session.data && leaving ? (
					<Loading of="the logout" />
				) : session.data ? (
					<Outlet />
				) : session.error ? (
					<Page title="Console">
						<Failure of="The session cannot be read" error={session.error} retry={session.refetch} />
					</Page>
				) : session.isPending ? (
					<Loading of="the session" />
				) : (
					<Login ended={had && at.pathname !== "/login"} next={at.pathname === "/login" ? base : base.replace(/\/$/, "") + at.pathname + at.searchStr} />
				)}
			</main>
			<footer className="bottom">
				netsim {session.data?.release} · <a href={base.replace(/console\/$/, "docs")}>API</a>
			</footer>
		</>
	);
}

function Navigation({ session, leaving }: { session: Session; leaving: (now: boolean) => void }) {
	const client = useQueryClient();
	const navigate = useNavigate();
	const at = useRouterState({ select: (state) => state.location.pathname });
	const leave = useMutation({
		mutationFn: async () => {
			// A request of the page that met the logout would be refused.
			flushSync(() => leaving(true));
			await client.cancelQueries();
			return logout();
		},
		onSettled: () => leaving(false),
		onSuccess: async (provider) => {
			client.clear();
			client.setQueryData(sessionQuery.queryKey, null);
			if (provider) location.assign(provider);
			else await navigate({ to: "/login" });
		},
	});
	return (
		<>
			<nav aria-label="Pages">
				{pages
					.filter((page) => !("role" in page) || session.roles.includes(page.role))
					.map(({ to, text, ...page }) => {
						const within = "also" in page && page.also.some((path) => at.startsWith(path));
						return (
							<Link key={to} to={to} activeOptions={{ exact: to === "/" }} {...(within && { className: "active", "aria-current": "true" })}>
								{text}
							</Link>
						);
					})}
			</nav>
			<div className="who">
				<span title={session.user.id}>
					<Name>{session.user.name}</Name> · <Name>{session.account.name}</Name>
				</span>
				<button type="button" onClick={() => leave.mutate()} disabled={leave.isPending}>
					{leave.isError ? "Log out failed: try again" : "Log out"}
				</button>
			</div>
		</>
	);
}

function Offline() {
	const online = useSyncExternalStore(
		(changed) => {
			addEventListener("online", changed);
			addEventListener("offline", changed);
			return () => {
				removeEventListener("online", changed);
				removeEventListener("offline", changed);
			};
		},
		() => navigator.onLine,
	);
	return <div role="status">{!online && <p className="banner">This browser is offline. What is shown may be out of date; it goes on by itself when the network is back.</p>}</div>;
}

/** A page that failed to draw. */
export function Crashed({ error }: ErrorComponentProps) {
	return (
		<Page title="This page failed">
			<Failure of="The page cannot be shown" error={error} retry={reload} />
		</Page>
	);
}

export function NotFound() {
	return (
		<Page title="No such page">
			<p>
				The console has no page of this address. <Link to="/">The start page</Link> leads to all of them.
			</p>
		</Page>
	);
}
