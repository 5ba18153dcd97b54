import { useEffect, useState } from "react";

/** A value as it was when it last stood still for a while. */
export function useDebounced<Value>(value: Value, milliseconds: number): Value {
	const [settled, settle] = useState(value);
	const text = JSON.stringify(value);
	// Equal values of another identity are the same.
	useEffect(() => {
		const timer = setTimeout(() => settle(value), milliseconds);
		return () => clearTimeout(timer);
	}, [text, milliseconds]);
	return settled;
}
