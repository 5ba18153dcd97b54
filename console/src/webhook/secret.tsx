import { Id } from "../ui/ids";

/** A secret in the only reply that has it. */
export function Secret({ of }: { of: string }) {
	return (
		<section className="banner" role="status" aria-label="Secret">
			<p>
				<strong>The secret, shown this once:</strong> <Id>{of}</Id>
			</p>
			<p>The receiver verifies messages with it: copy it there now. Nobody can read it again, but a new one can be made.</p>
		</section>
	);
}
