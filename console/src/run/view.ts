/** Which part of the width of a picture is in view: from 0, at scale 1 all of it. */
export type View = { scale: number; from: number };

const mostScale = 4096;

/** Keeps a view inside of the picture. */
export function clamped({ scale, from }: View, most = mostScale): View {
	const within = Math.min(Math.max(scale, 1), most);
	return { scale: within, from: Math.min(Math.max(from, 0), 1 - 1 / within) };
}

/** A view that is scaled about a point of the picture, 0 at its left and 1 at its right. */
export function zoomed(view: View, by: number, about: number, most = mostScale): View {
	const scale = Math.min(Math.max(view.scale * by, 1), most);
	return clamped({ scale, from: view.from + about / view.scale - about / scale }, most);
}

/** The view after a key: plus and minus zoom about the middle, left and right move, 0 shows all. Other keys have none. */
export function byKey(view: View, key: string, most = mostScale): View | undefined {
	switch (key) {
		case "+":
			return zoomed(view, 1.5, 0.5, most);
		case "-":
			return zoomed(view, 1 / 1.5, 0.5, most);
		case "ArrowLeft":
			return clamped({ scale: view.scale, from: view.from - 0.1 / view.scale }, most);
		case "ArrowRight":
			return clamped({ scale: view.scale, from: view.from + 0.1 / view.scale }, most);
		case "0":
			return { scale: 1, from: 0 };
		default:
			return undefined;
	}
}

/** A view as it stands in an address: numbers with commas between, of which further ones are the caller's. */
export function readView(text: string | undefined, most = mostScale): View {
	const [scale, from] = (text ?? "").split(",").map(Number);
	return scale && from !== undefined && Number.isFinite(from) ? clamped({ scale, from }, most) : { scale: 1, from: 0 };
}

export function writeView({ scale, from }: View): string {
	return scale === 1 ? "" : `${scale.toPrecision(4)},${from.toPrecision(12)}`;
}
