import { type DragEvent, useState } from "react";

/** What an element needs on which files are dropped. */
export function useDrop(choose: (files: File[]) => void) {
	const [over, setOver] = useState(false);
	return {
		className: over ? "drop over" : "drop",
		onDragOver: (event: DragEvent) => {
			event.preventDefault();
			setOver(true);
		},
		onDragLeave: () => setOver(false),
		onDrop: (event: DragEvent) => {
			event.preventDefault();
			setOver(false);
			choose([...event.dataTransfer.files]);
		},
	};
}
