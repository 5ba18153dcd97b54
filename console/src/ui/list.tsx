import { useVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { fieldLabel } from "../lib/fields";
import { Field } from "./parts";

type Props<Row> = {
	label: string;
	columns: string[];
	/** The columns are paths of fields. */
	fields?: ReadonlySet<string>;
	rows: Row[];
	id: (row: Row) => string;
	cells: (row: Row) => ReactNode[];
	/** The query whose pages the rows are. Without it these are all rows. */
	pages?: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
	/** Pages that nobody scrolls to are loaded too. */
	whole?: boolean;
};

/** A table of which only the rows in view are drawn. Rows that are scrolled to are loaded. */
export function VirtualList<Row>({ label, columns, fields, rows, id, cells, pages, whole = false }: Props<Row>) {
	const more = pages?.hasNextPage ?? false;
	const loading = pages?.isFetchingNextPage ?? false;
	const loadMore = pages?.fetchNextPage;
	const scroller = useRef<HTMLDivElement>(null);
	// Rows that are not drawn yet are as high as the first: a row of another height moves all below it.
	const usual = useRef(0);
	const virtual = useVirtualizer({
		count: rows.length,
		getScrollElement: () => scroller.current,
		estimateSize: () => usual.current || 44,
		overscan: 12,
		getItemKey: (index) => id(rows[index] as Row),
	});
	const measured = useCallback(
		(row: HTMLDivElement | null) => {
			if (row && usual.current === 0) usual.current = row.offsetHeight;
			virtual.measureElement(row);
		},
		[virtual],
	);
	const items = virtual.getVirtualItems();
	const last = items.at(-1)?.index ?? -1;
	const [beyond, setBeyond] = useState(false);
	useEffect(() => {
		const box = scroller.current;
		if (!box) return;
		const sizes = new ResizeObserver(() => setBeyond(box.scrollHeight > box.clientHeight + 1));
		for (const one of [box, ...box.children]) sizes.observe(one);
		return () => sizes.disconnect();
	}, []);
	useEffect(() => {
		if (more && !loading && (whole || last >= rows.length - 20)) loadMore?.();
	}, [more, loading, whole, last, rows.length, loadMore]);
	return (
		<div className="list" data-of={label} style={{ "--columns": columns.length, "--fields": fields?.size ?? 0 } as CSSProperties}>
			<div role="table" aria-label={label} aria-rowcount={more ? -1 : rows.length + 1}>
				<div role="rowgroup">
					<div role="row" className="row head" aria-rowindex={1}>
						{columns.map((column) => (
							<span role="columnheader" key={column}>
								{fields?.has(column) ? <Field>{column}</Field> : column}
							</span>
						))}
					</div>
				</div>
				<div className="scroll" role="rowgroup" ref={scroller} tabIndex={0} aria-label={`${label}: rows`}>
					<div role="presentation" style={{ height: virtual.getTotalSize(), position: "relative" }}>
						{items.map((item) => (
							<div
								role="row"
								className="row"
								key={item.key}
								aria-rowindex={item.index + 2}
								data-index={item.index}
								ref={measured}
								style={{ position: "absolute", insetInline: 0, transform: `translateY(${item.start}px)` }}
							>
								{cells(rows[item.index] as Row).map((cell, column) => (
									<span role="cell" key={columns[column]} data-label={fieldLabel(columns[column] ?? "")}>
										{cell}
									</span>
								))}
							</div>
						))}
					</div>
				</div>
			</div>
			<p className="quiet" role="status">
				{loading ? "Loading more …" : `${rows.length} loaded${more ? ", more follow" : ""}${beyond ? "; the list scrolls" : ""}`}
			</p>
		</div>
	);
}
