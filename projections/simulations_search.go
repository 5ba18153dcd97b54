package projections

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The planner does not know how many names contain a text, because PostgreSQL's
// statistics are about whole values. A search therefore samples some names first.
// If enough of them match, a scan in the order of the list finds a page soon.
// Otherwise the index of grams finds the matches, day by day where the list is in
// the order of creation. A search for a text shorter than a gram, or in the lists
// of all accounts, always scans.
const (
	sampledNames = 200
	costOfAMatch = 8 // to read it through the index, in rows of a scan
	usedGrams    = 3 // of a search: each takes time, and the rarest exclude most
)

// A gram is three bytes of a folded name, with the account and the day of the
// creation: grams are equal only for names of one account and day, apart from
// rare collisions. The index of grams thus has the matches of a day together,
// and a page of a search reads the matches of a few days, at any position of the list.
//
// A gram is an int4: the number of the day modulo 4096, shifted to the left by
// gramBits, and a hash of the account and the three bytes.
const (
	gramSize = 3
	gramBits = 19
	gramDays = 1 << 12
	day      = 24 * 60 * 60 // seconds
)

// grams returns the grams of a folded name.
func grams(account, folded string, created time.Time) []int32 {
	days := (floorDiv(created.Unix(), day) & (gramDays - 1)) << gramBits
	all := hashes(account, distinctGrams(folded))
	for i, h := range all {
		all[i] = int32(days) | h
	}
	return all
}

// distinctGrams returns all sequences of three bytes of a text, each once.
func distinctGrams(text string) []string {
	var all []string
	for i := range max(len(text)-gramSize+1, 0) {
		all = append(all, text[i:i+gramSize])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// hashes returns the lower bits of grams, by FNV-1a.
func hashes(account string, grams []string) []int32 {
	const basis, prime = 2166136261, 16777619
	add := func(h uint32, text string) uint32 {
		for i := range len(text) {
			h = (h ^ uint32(text[i])) * prime
		}
		return h
	}
	seed, out := add(basis, account), make([]int32, len(grams))
	for i, gram := range grams {
		h := add(seed, gram)
		out[i] = int32((h ^ h>>gramBits) & (1<<gramBits - 1)) //nolint:gosec // 19 bits
	}
	return out
}

// floorDiv divides and rounds down, as PostgreSQL's floor does.
func floorDiv(n, by int64) int64 {
	if n < 0 {
		n -= by - 1
	}
	return n / by
}

// folded returns the text with its ASCII letters in lower case, as
// lower(… COLLATE "C") does.
func folded(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, text)
}

// rareGrams returns the grams by which to find the matches of a search: those that
// are rarest in the newest names. It returns nil when a scan in the order of the
// list finds a page sooner.
func (q SimulationQuery) rareGrams(ctx context.Context, db Reader) ([]string, error) {
	if q.Scope.AccountID == "" || len(q.Search) < gramSize {
		return nil, nil
	}
	c := conditions{blind: true}
	sample := fmt.Sprintf("SELECT folded, created_at FROM simulation_items WHERE account_id = %s ORDER BY created_at DESC, id DESC LIMIT %d",
		c.arg(q.Scope.AccountID), sampledNames)
	var names string
	var seen int
	var seconds float64
	err := db.QueryRow(ctx, fmt.Sprintf(`
		SELECT coalesce(string_agg(folded, E'\n'), ''), count(*),
			coalesce(extract(epoch FROM max(created_at) - min(created_at)), 0)::float8
		FROM (%s) AS sample`, sample), c.args...).Scan(&names, &seen, &seconds)
	if err != nil || seen < sampledNames { // a scan of them all is short
		return nil, err
	}
	found := strings.Count(names, q.Search)
	share := max(float64(found), 0.5) / sampledNames
	matches := share * sampledNames * day / max(seconds, 1) // a day
	common := matches*costOfAMatch > float64(q.Page.Limit)/share
	if !q.byDay() { // the index finds the matches of all days
		common = found > 0
	}
	if common {
		return nil, nil
	}
	all := distinctGrams(q.Search)
	slices.SortStableFunc(all, func(a, b string) int { return strings.Count(names, a) - strings.Count(names, b) })
	return all[:min(len(all), usedGrams)], nil
}

// byDay reports whether the list is in the order of creation.
func (q SimulationQuery) byDay() bool { return q.Sort[0].Key == "created" }

// rare returns the query of a page of a search that uses the index of grams. It
// reads day by day. If the list is in the order of creation, it stops when it has
// a page. OFFSET 0 keeps the planner from using another index.
func (q SimulationQuery) rare(keys []sortKey, grams []string) (string, []any) {
	c := conditions{blind: true}
	c.add("account_id = ?", q.Scope.AccountID)
	account := strings.Join(c.parts, " AND ")
	c.filter(q.Where)
	step, ends := 1, [2]string{"ORDER BY created_at, id", "ORDER BY created_at DESC, id DESC"}
	if q.byDay() {
		if q.Sort[0].Desc {
			step, ends[0], ends[1] = -1, ends[1], ends[0]
		}
		if q.Page.After != nil {
			c.parts = append(c.parts, fmt.Sprintf("created_at %s= %s::timestamptz", keys[0].operator(), c.arg(q.Page.After[0])))
		}
	}
	for i, order := range ends {
		ends[i] = fmt.Sprintf("(SELECT floor(extract(epoch FROM created_at) / %d)::bigint FROM simulation_items WHERE %s %s LIMIT 1)",
			day, c.where(), order)
	}
	days := fmt.Sprintf("generate_series(%s, %s, %d) WITH ORDINALITY AS day(number, nth)", ends[0], ends[1], step)
	matches := fmt.Sprintf(`
		SELECT * FROM simulation_items
		WHERE grams @> ARRAY(SELECT (day.number & %d)::int << %d | hash FROM unnest(%s::int[]) AS hash) OFFSET 0`,
		gramDays-1, gramBits, c.arg(hashes(q.Scope.AccountID, grams)))

	c.parts = []string{account, fmt.Sprintf("floor(extract(epoch FROM created_at) / %d) = day.number", day)}
	c.add("strpos(folded, ?) > 0", q.Search)
	from, name := fmt.Sprintf("(%s) AS matches", matches), "matches"
	if q.table() == fullTable {
		from, name = fullTable, fullTable
		found := fmt.Sprintf("id = ANY(ARRAY(SELECT id FROM (%s) AS matches WHERE %s))", matches, c.where())
		c.parts = []string{"deleted = ''", found}
	}
	c.add(q.Scope.on(&c, ownersOf(name, "")))
	c.filter(q.Where)
	if q.Statuses != nil {
		c.add("status = ANY(?)", q.Statuses)
	}
	c.after(keys, q.Page.After)
	page, order := fmt.Sprintf("SELECT item, %s FROM %s WHERE %s", columnsOf(keys), from, c.where()), orderBy(named(keys))
	if q.byDay() {
		page += fmt.Sprintf(" ORDER BY %s LIMIT %d", orderBy(keys), q.Page.Limit+1)
		order = "day.nth, " + order
	}
	return fmt.Sprintf("SELECT found.* FROM %s CROSS JOIN LATERAL (%s) AS found ORDER BY %s LIMIT %d",
		days, page, order, q.Page.Limit+1), c.args
}
