package projections

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"netsim/infra/gather"
)

// BillingLookups reads billing items, their last rated days, and holds of credit.
// It batches the reads of concurrent reactions into few queries.
type BillingLookups struct {
	items gather.Gather[billedResource, BillingItem]
	rated gather.Gather[int64, string]
	holds gather.Gather[string, CreditHold]
}

type billedResource struct{ kind, id string }

// NewBillingLookups returns BillingLookups that read from db.
func NewBillingLookups(db Reader) *BillingLookups {
	return &BillingLookups{
		items: gather.Gather[billedResource, BillingItem]{Query: latestItems(db)},
		rated: gather.Gather[int64, string]{Query: lastRated(db)},
		holds: gather.Gather[string, CreditHold]{Query: rowsByID(db, &NewHolds().table)},
	}
}

// LatestItem reads the newest item of a resource; nil if there is none.
func (l *BillingLookups) LatestItem(ctx context.Context, resourceType, resourceID string) (*BillingItem, error) {
	item, found, err := l.items.Get(ctx, billedResource{resourceType, resourceID})
	if err != nil {
		return nil, fmt.Errorf("read a billing item: %w", err)
	}
	if !found {
		return nil, nil
	}
	return &item, nil
}

// LastRated returns the last day, YYYY-MM-DD, for which an item has a cost, "" if
// it has none.
func (l *BillingLookups) LastRated(ctx context.Context, item int64) (date string, err error) {
	if date, _, err = l.rated.Get(ctx, item); err != nil {
		return "", fmt.Errorf("find the last day rated: %w", err)
	}
	return date, nil
}

// LastHold reads the last hold of a simulation, open or released; nil if it never
// had one.
func (l *BillingLookups) LastHold(ctx context.Context, simulation string) (*CreditHold, error) {
	hold, found, err := l.holds.Get(ctx, simulation)
	if err != nil {
		return nil, fmt.Errorf("read the hold of %s: %w", simulation, err)
	}
	if !found {
		return nil, nil
	}
	return &hold, nil
}

// latestItems returns a query for the newest items of resources.
func latestItems(db Reader) func(context.Context, []billedResource) (map[billedResource]BillingItem, error) {
	t := &NewUsage().items
	sql := fmt.Sprintf(`
		SELECT %s FROM unnest($1::text[], $2::text[]) AS k (kind, id)
		CROSS JOIN LATERAL (SELECT * FROM billing_items WHERE resource_id = k.id AND resource_type = k.kind ORDER BY id DESC LIMIT 1) AS i`,
		t.columns.List("i."))
	return func(ctx context.Context, keys []billedResource) (map[billedResource]BillingItem, error) {
		kinds, ids := make([]string, len(keys)), make([]string, len(keys))
		for i, k := range keys {
			kinds[i], ids[i] = k.kind, k.id
		}
		rows, err := db.Query(ctx, sql, kinds, ids)
		items, err := collect(rows, err, t.columns.Scan)
		if err != nil {
			return nil, err
		}
		found := make(map[billedResource]BillingItem, len(items))
		for _, item := range items {
			found[billedResource{item.ResourceType, item.ResourceID}] = item
		}
		return found, nil
	}
}

// lastRated returns a query for the last days on which items have a cost.
func lastRated(db Reader) func(context.Context, []int64) (map[int64]string, error) {
	return func(ctx context.Context, items []int64) (map[int64]string, error) {
		rows, err := db.Query(ctx, `
			SELECT item_id, max(date) FROM daily_costs WHERE item_id = ANY($1) AND correction_of = 0 GROUP BY item_id`, items)
		if err != nil {
			return nil, err
		}
		found := map[int64]string{}
		var item int64
		var date string
		_, err = pgx.ForEachRow(rows, []any{&item, &date}, func() error {
			found[item] = date
			return nil
		})
		return found, err
	}
}
