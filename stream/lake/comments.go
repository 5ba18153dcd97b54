package lake

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"netsim/stream/tables"
)

// named is a table or view, or a column of a table.
type named struct{ object, column string }

// wantedComments returns the comments of tables, their columns and views.
func wantedComments(all []*tables.Table) map[named]string {
	wanted := map[named]string{}
	for _, t := range all {
		wanted[named{t.Name, ""}] = tableComment(t)
		for _, c := range t.Columns {
			wanted[named{t.Name, c.Name}] = c.Comment()
		}
	}
	for _, v := range allViews(all) {
		wanted[named{v.name, ""}] = v.comment
	}
	return wanted
}

func tableComment(t *tables.Table) string {
	return fmt.Sprintf("The facts of %s, one row each. A column is null in the rows of types that do not have it.", t.Family)
}

// comment sets the comments that are not the wanted ones.
func (g *growth) comment(ctx context.Context, tx pgx.Tx, all []*tables.Table) error {
	wanted := wantedComments(all)
	var objects, tables, columns []int64
	var texts, columnTexts, changes []string
	rows, _ := tx.Query(ctx, statement(growSQL, "commented")) // the error is that of ForEachRow
	var kind, comment string
	var of named
	var id, column int64
	_, err := pgx.ForEachRow(rows, []any{&kind, &id, &column, &of.object, &of.column, &comment}, func() error {
		want, ours := wanted[of]
		if !ours || want == comment {
			return nil
		}
		if of.column == "" {
			objects, texts = append(objects, id), append(texts, want)
		} else {
			tables, columns, columnTexts = append(tables, id), append(columns, column), append(columnTexts, want)
		}
		if !slices.Contains(g.created, id) {
			changes = append(changes, fmt.Sprintf("altered_%s:%d", kind, id))
		}
		return nil
	})
	if err != nil || len(objects)+len(tables) == 0 {
		return err
	}
	if g.snapshot == 0 {
		if _, err := g.begin(ctx, tx, 0); err != nil {
			return err
		}
	}
	slices.Sort(changes)
	g.changes = append(g.changes, slices.Compact(changes)...)
	b := &pgx.Batch{}
	b.Queue(statement(growSQL, "end_comments"), g.snapshot, objects)
	b.Queue(statement(growSQL, "add_comments"), g.snapshot, objects, texts)
	b.Queue(statement(growSQL, "end_column_comments"), g.snapshot, tables, columns)
	b.Queue(statement(growSQL, "add_column_comments"), g.snapshot, tables, columns, columnTexts)
	return tx.SendBatch(ctx, b).Close()
}
