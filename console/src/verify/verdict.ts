import type { Report, Wanted } from "./bundle";

/** What `netsim audit verify` prints about a bundle, line by line: what is in it, and what was found or follows. */
export type Verdict = { agrees: boolean; summary: string[]; conclusion: string };

/** Signs of a terminal, or of the direction of text, do not belong into a verdict. */
export const printable = (text: string): string => text.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, " ");

export function verdict(report: Report, wanted: Wanted, noNote: boolean): Verdict {
	const { account, from, to, covered, lines, events, costs, checkpoints, chains, losses, totals, rated, problems } = report;
	const summary = [
		`${account} from ${from} to ${to}, coveredUntil ${covered}: ${lines} lines, ${events} events, ${costs} costs, ${checkpoints} checkpoints`,
		...chains.map((chain) => `chain ${chain.stream}: ${chain.events} events`),
	];
	if (losses > 0) summary.push(`the checkpoints contain ${losses} losses of the log that operators accepted`);
	summary.push(...totals.map((total) => `total ${total}`));
	const later = rated.pending > 0 ? `, ${rated.pending} will be booked again` : "";
	const missing = rated.unrated > 0 ? `, ${rated.unrated} are not booked yet, such as ${rated.first}` : "";
	summary.push(`${rated.days} daily costs were rated again with the same result${later}${missing}`);
	if (wanted.key === "") summary.push(`the signatures were verified with the bundle's own key, ${report.verifier}: compare it with the key that you know`);
	const agrees = problems.length === 0;
	return { agrees, summary: summary.map(printable), conclusion: agrees ? concluded(wanted.notes.length > 0, noNote) : `the verification failed: ${problems.length} found` };
}

function concluded(hasNote: boolean, noNote: boolean): string {
	if (hasNote) return "everything agrees";
	if (noNote) return "everything that is there agrees";
	return "everything that is there agrees, but its end may have been cut off: a checkpoint that you hold shows that (--note FILE, or --no-note if you know)";
}

/** The same verification on the command line. */
export function command(wanted: Wanted, noNote: boolean): string {
	const shell = (text: string) => (/^[\w+/=.:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
	const words = ["netsim audit verify bundle.jsonl"];
	for (const name of ["key", "account", "from", "to"] as const) {
		if (wanted[name] !== "") words.push(`--${name} ${shell(wanted[name])}`);
	}
	if (wanted.preliminary) words.push("--preliminary");
	if (wanted.strict) words.push("--strict");
	words.push(...wanted.notes.map((_, at) => `--note note-${at + 1}`));
	if (noNote && wanted.notes.length === 0) words.push("--no-note");
	return words.join(" ");
}
