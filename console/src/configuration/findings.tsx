import type { Finding } from "../api/contract";

export function Findings({ of }: { of: Finding[] }) {
	return of.map((finding) => (
		<p key={`${finding.code} ${finding.path} ${finding.message}`} className={`finding ${finding.severity}`}>
			<strong>{finding.severity}:</strong> <bdi>{finding.message}</bdi>
		</p>
	));
}
