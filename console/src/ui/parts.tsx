import { Fragment, type ReactNode, useEffect, useState } from "react";
import { Refusal } from "../api/client";
import { ago, clock } from "../lib/clock";
import { grouped, short } from "../lib/decimal";
import type { Elsewhere } from "../lib/elsewhere";
import { fieldLabel } from "../lib/fields";
import { byTiers, namesTier, tierName } from "../lib/tiers";
import { inUnits, picoseconds, rounded } from "../lib/units";
import { type Call, Curl, Others } from "./curl";

/** A page with its heading, and with what the same is on the command line. A title may be a name that a person chose. */
export function Page({ title, actions, calls, elsewhere, children }: { title: string; actions?: ReactNode; calls?: Call[]; elsewhere?: Elsewhere; children: ReactNode }) {
	useEffect(() => {
		document.title = `${title} · netsim`;
	}, [title]);
	return (
		<>
			<header className="page">
				<h1>
					<Name>{title}</Name>
				</h1>
				{actions && <div className="actions">{actions}</div>}
			</header>
			{children}
			{calls && <Curl calls={calls} />}
			{elsewhere && <Others {...elsewhere} />}
		</>
	);
}

export function Loading({ of = "the page" }: { of?: string }) {
	return (
		<p className="quiet" role="status">
			Loading {of} …
		</p>
	);
}

/** A name that a person chose. Its direction does not change that of the text around it. */
export function Name({ children }: { children: string }) {
	return <bdi className="name">{children}</bdi>;
}

/** A figure to some significant digits. The whole is its title. */
export function Short({ of, digits = 4 }: { of: string; digits?: number }) {
	const short = rounded(of, digits);
	return short === of ? (
		<Tiers>{of}</Tiers>
	) : (
		<span title={of}>
			<Tiers>{short}</Tiers>
		</span>
	);
}

/**
 * An amount, short. All of its digits are its title; a click shows and copies them, because a phone
 * has no titles. Within what is clicked already it is plain.
 */
export function Amount({ of, unit, plain = false }: { of: string; unit?: string | undefined; plain?: boolean }) {
	const [whole, setWhole] = useState(false);
	const brief = short(of);
	const text = (
		<>
			<span className="amount">{whole ? grouped(of) : brief}</span>
			{unit && ` ${unit}`}
		</>
	);
	const title = `${of}${unit ? ` ${unit}` : ""}`;
	if (plain || !brief.startsWith("≈")) return <span title={title}>{text}</span>;
	const turn = () => {
		setWhole(!whole);
		// Without HTTPS a browser has no clipboard; then it is only shown.
		if (!whole) navigator.clipboard?.writeText(of).catch(() => undefined);
	};
	return (
		<button type="button" className="short" title={`${title}; a click shows and copies it`} aria-pressed={whole} onClick={turn}>
			{text}
		</button>
	);
}

/** A field in words, with its path as the title; without words its path. It may break after dots and before capitals within a word, and nowhere else. */
export function Field({ children }: { children: string }) {
	const label = fieldLabel(children);
	return (
		<bdi className="field" title={label === children ? undefined : children}>
			{label.split(/(?<=\.)|(?<=[a-z])(?=[A-Z])/).map((part, at) => (
				<Fragment key={at}>
					{at > 0 && <wbr />}
					{label === children ? <Tiers>{part}</Tiers> : part}
				</Fragment>
			))}
		</bdi>
	);
}

/** What the names of tiers mean, before the first of these texts that has one. */
export function TierWords({ before = ["SSW"] }: { before?: readonly string[] }) {
	if (!before.some(namesTier)) return null;
	return <p className="quiet">RSW, FSW and SSW are the rack, fabric and spine switches; ul and dl are their links up and down.</p>;
}

/** A text in which the names of tiers say what they mean. */
export function Tiers({ children }: { children: string }) {
	return byTiers(children).map((part, at) =>
		at % 2 === 1 ? (
			<abbr key={at} title={tierName(part)}>
				{part}
			</abbr>
		) : (
			part
		),
	);
}

/** A sentence of the API. Where it names runs by ids, the names that are known stand. */
export function Sentence({ children, name }: { children: string; name?: (id: string) => string }) {
	return (
		<>
			{inUnits(children)
				.replace(/\b[a-z]\w*(\[[\w.-]+\])?(\.[a-z]\w*(\[[\w.-]+\])?)+/gi, fieldLabel)
				.split(/(\bsim_[0-9a-z]{26}\b)/)
				.map((part, at) =>
					name && at % 2 === 1 && name(part) !== part ? (
						<span key={at} title={part}>
							<Name>{name(part)}</Name>
						</span>
					) : (
						<Tiers key={at}>{part}</Tiers>
					),
				)}
		</>
	);
}

/** What lies below a picture over time: from when to when, in picoseconds. The less of the time it shows, the more digits it needs. */
export function TimeAxis({ start = 0, end }: { start?: number | bigint; end: number | bigint }) {
	const [from, to] = [BigInt(start), BigInt(end)];
	const more = Math.max(Math.ceil(Math.log10(Number(to) / Math.max(Number(to - from), 1))), 0) || 0;
	const at = (part: number) => from + ((to - from) * BigInt(part)) / 4n;
	return (
		<div className="axis" aria-label={`From ${picoseconds(from)} to ${picoseconds(to)}`} role="img">
			{[0, 1, 2, 3, 4].map((part) => (
				<span key={part}>{at(part) === 0n ? "0" : rounded(picoseconds(at(part)), more + (part === 4 ? 6 : 4))}</span>
			))}
		</div>
	);
}

export function StatusMark({ value }: { value: string }) {
	return <span className={`status ${value}`}>{value}</span>;
}

/** An instant, as what it is to a person now, or whole: to the second in UTC. The title has it to the millisecond. */
export function Time({ at, whole = false }: { at: string; whole?: boolean }) {
	useTicks(15_000);
	return (
		<time dateTime={at} title={at}>
			{whole ? `${at.replace("T", " ").replace(/(\.\d+)?Z$/, "")} UTC` : ago(at)}
		</time>
	);
}

/** Draws the component again every so often. */
export function useTicks(milliseconds: number, on = true): number {
	const [, tick] = useState(0);
	useEffect(() => {
		if (!on) return;
		const timer = setInterval(() => tick((n) => n + 1), milliseconds);
		return () => clearInterval(timer);
	}, [milliseconds, on]);
	return clock.now();
}

/** What happened, and what can be done. */
export function Failure({ of, error, retry }: { of: string; error: unknown; retry?: (() => void) | undefined }) {
	const refused = error instanceof Refusal ? error : undefined;
	const message = error instanceof Error ? error.message : String(error);
	return (
		<section className="failure" role="alert">
			<p>
				<strong>{of}:</strong> <bdi>{message}</bdi>.
			</p>
			<p>{remedy(refused)}</p>
			{refused?.requestId && (
				<p className="quiet">
					Request <code>{refused.requestId}</code>
				</p>
			)}
			{retry && (
				<button type="button" onClick={retry}>
					Try again
				</button>
			)}
		</section>
	);
}

/** What the service says of a field that it refused, within the label of the field. */
export function Said({ of }: { of: string | undefined }) {
	return (
		of && (
			<span className="finding error">
				<Sentence>{of}</Sentence>
			</span>
		)
	);
}

function remedy(refused: Refusal | undefined): string {
	switch (refused?.status) {
		case undefined:
			return "This is a defect of the console. Reload the page; if it happens again, report it with the message above.";
		case 0:
			return "Check your connection, and whether the service runs. The page tries again by itself when you are online.";
		case 400:
		case 413:
		case 422:
			return "Change the value that the message names.";
		case 401:
			return "Your session has ended. Log in again.";
		case 402:
			return "Your account has no credit for this. Its bills page shows the balance; who manages the account can add credit.";
		case 403:
			return "Your account may not do this. Who manages the workspace can give you access.";
		case 404:
			return "It does not exist, was deleted, or belongs to another account. Check the address.";
		case 409:
		case 412:
			return "It has changed since this page was loaded. Reload and look at what it is now.";
		case 429:
			return `Too many requests.${refused.retryAfter ? ` Try again in ${refused.retryAfter} s.` : " Wait a moment and try again."}`;
		default:
			return "The service has trouble. Wait a moment and try again; its operators find the request by its number.";
	}
}

type Loaded<T> = { of: string; query: { data: T | undefined; error: unknown; isPending: boolean; refetch: () => unknown }; children: (data: T) => ReactNode };

/** What a query found, or that it is loading, or why it failed. Never nothing. */
export function Shown<T>({ of, query, children }: Loaded<T>) {
	if (query.data !== undefined) {
		return (
			<>
				{query.error !== null && <Failure of={`${of} may be out of date`} error={query.error} retry={query.refetch} />}
				{children(query.data)}
			</>
		);
	}
	if (query.error !== null) return <Failure of={`Loading ${of} failed`} error={query.error} retry={query.refetch} />;
	return <Loading of={of} />;
}

/** A term and what it is. */
export function Facts({ of, ids = false }: { of: [string, ReactNode][]; ids?: boolean }) {
	return (
		<dl className={ids ? "facts ids" : "facts"}>
			{of.map(([term, value]) => (
				<div key={term}>
					<dt>{term}</dt>
					<dd>{value}</dd>
				</div>
			))}
		</dl>
	);
}
