import { type ReactNode, useEffect, useRef } from "react";

/** A question before something that cannot be taken back. Escape and the answer "no" change nothing. */
export function Confirm({
	title,
	yes,
	no = "Keep it",
	busy,
	ready = true,
	onYes,
	onNo,
	children,
}: {
	title: string;
	yes: string;
	no?: string;
	busy: boolean;
	ready?: boolean;
	onYes: () => void;
	onNo: () => void;
	children: ReactNode;
}) {
	const dialog = useRef<HTMLDialogElement>(null);
	useEffect(() => {
		const shown = dialog.current;
		shown?.showModal();
		return () => shown?.close();
	}, []);
	return (
		<dialog ref={dialog} aria-labelledby="confirm-title" onCancel={onNo}>
			<h2 id="confirm-title">{title}</h2>
			{children}
			<div className="actions">
				<button type="button" onClick={onNo}>
					{no}
				</button>
				<button type="button" className="main" disabled={busy || !ready} onClick={onYes}>
					{busy ? `${yes} …` : yes}
				</button>
			</div>
		</dialog>
	);
}
