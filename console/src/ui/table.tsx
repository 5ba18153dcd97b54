import type { ReactNode } from "react";

type Props = { label: string; head: string[]; rows: { id: string; cells: ReactNode[] }[] /** The columns of figures. */; numbers?: string[] };

/** A table whose rows stand as labels and values on a phone. */
export function Table({ label, head, rows, numbers = [] }: Props) {
	const kind = (column: string | undefined) => (numbers.includes(column as string) ? "number" : undefined);
	return (
		<section className="wide" tabIndex={0} aria-label={label}>
			<table className="stacked">
				<thead>
					<tr>
						{head.map((text) => (
							<th key={text} scope="col" className={kind(text)}>
								{text}
							</th>
						))}
					</tr>
				</thead>
				<tbody>
					{rows.map(({ id, cells }) => (
						<tr key={id}>
							{cells.map((cell, column) => (
								<td key={head[column]} data-label={head[column]} className={kind(head[column])}>
									<bdi>{cell}</bdi>
								</td>
							))}
						</tr>
					))}
				</tbody>
			</table>
		</section>
	);
}
