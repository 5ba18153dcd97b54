package audit

import (
	"context"
	"maps"
	"strings"
	"testing"

	"netsim/events"
)

func replay(t *testing.T, w *world, model ReadModel, now string) Replayed {
	t.Helper()
	r, err := Replay(t.Context(), w.log(), testPlatform, model, at(now))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReplay: a replay rates the days of a log as they were booked. It reports
// days without an accrual as unrated, and late events of a past day as findings.
func TestReplay(t *testing.T) {
	t.Parallel()
	w := fourDays(t) // one of its rows no longer costs anything
	r := replay(t, w, nil, "2026-11-06 12:00:00")
	if reported := findings(r.Findings); reported != "" || r.Rated.Days != int64(len(w.booked)-1) || r.Rated.Pending+r.Rated.Unrated > 0 {
		t.Errorf("replay: %+v, want the %d booked rows but one, and no findings:\n%s", r, len(w.booked), reported)
	}
	// Two days later, without an accrual.
	if r := replay(t, w, nil, "2026-11-08 12:00:00"); len(r.Findings) > 0 || r.Rated.Unrated != 4 {
		t.Errorf("two days without an accrual: %+v, want 4 unrated rows and no findings", r)
	}
	// A reaction will book the events of today; those of yesterday should have
	// been booked.
	w.use(alice, "storage", "start", 9, 1, at("2026-11-05 23:59:59"))
	w.use(bob, "cluster", "stop", 2, 0, at("2026-11-05 12:00:00"))
	if r := replay(t, w, nil, "2026-11-05 12:30:00"); len(r.Findings) > 0 || r.Rated.Pending != 1 {
		t.Errorf("a pending booking: %+v, want 1 pending row and no findings:\n%s", r.Rated, findings(r.Findings))
	}
	if r := replay(t, w, nil, "2026-11-07 12:30:00"); !strings.Contains(findings(r.Findings), "cost is 180, by its events 90") {
		t.Errorf("a missing booking: %+v, want a finding about the cost, got:\n%s", r.Rated, findings(r.Findings))
	}
}

// TestReplayRatesRowsByTheirOwnRule: rows that an earlier rule booked have no
// findings, also after a late event for a day of that rule.
func TestReplayRatesRowsByTheirOwnRule(t *testing.T) {
	t.Parallel()
	w := fourDaysWith(t, newTestKey(t), true, at("2026-11-04 00:00:00"))
	r := replay(t, w, nil, "2026-11-06 12:00:00")
	if reported := findings(r.Findings); reported != "" || r.Rated.Days != int64(len(w.booked)-1) {
		t.Errorf("replay: %+v, want the %d booked rows but one, and no findings:\n%s", r, len(w.booked), reported)
	}
	rules := map[string]bool{}
	differ := false
	newest := fourDays(t)
	for where, row := range w.booked {
		rules[row.EngineVersion] = true
		differ = differ || newest.booked[where].Cost != row.Cost
	}
	if len(rules) != 2 || !differ {
		t.Errorf("the rows are booked by the rules %v, want 2 rules; some cost differs between them: %v, want true", rules, differ)
	}
}

// TestReplayFindsAChangedFact: in a log that was rewritten with another cost,
// every hash is right, but the cost does not follow from its events.
func TestReplayFindsAChangedFact(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(d *events.DailyCostRated)
		want   string
	}{
		{"cost", func(d *events.DailyCostRated) { d.Cost = "1" }, "cost is 1, by its events "},
		{"unit-days", func(d *events.DailyCostRated) { d.UnitDays = "99" }, "unitDays is 99"},
		{"segments", func(d *events.DailyCostRated) { d.Segments[0].Units++ }, "sum of the segments"},
		{"rule", func(d *events.DailyCostRated) { d.EngineVersion = "rating-9" }, "engineVersion is rating-9"},
		{"day price", func(d *events.DailyCostRated) { d.DayPrice = "1" }, "dayPrice is 1"},
		{"item", func(d *events.DailyCostRated) { d.BillingItemID = 77 }, "by its events it costs nothing"},
		{"date", func(d *events.DailyCostRated) { d.Date = "2026-10-01" }, "by its events it costs nothing"},
		{"version", func(d *events.DailyCostRated) { d.Version = 5 }, "is version 5 of a row that is not there"},
		{"previous cost", func(d *events.DailyCostRated) { d.PreviousCost, d.Version = "3", 2 }, "version 2"},
		{"correction of a missing cost", func(d *events.DailyCostRated) { d.CorrectionOf = 4711 }, "corrects 4711, which is not there"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.rate("", "cluster", "unit", "10.00", at("2026-11-01 00:00:00"))
			w.use(bob, "cluster", "start", 1, 1, at("2026-11-02 06:00:00"))
			honest := newWorld(t)
			honest.rates, honest.usage = w.rates, w.usage
			honest.accrue(bob, "cluster", at("2026-11-02 00:00:00"), at("2026-11-03 00:00:30"))
			for _, row := range honest.booked {
				tt.change(&row)
				w.append(bob, row, at("2026-11-03 00:00:30"))
			}
			r := replay(t, w, nil, "2026-11-03 12:00:00")
			if reported := findings(r.Findings); !strings.Contains(reported, tt.want) {
				t.Errorf("%q was not found, but:\n%s", tt.want, reported)
			}
		})
	}
}

// TestReplayFindsASecondChain: an event in an account's stream in another partition
// is a fact by the rule, but netsim did not write it.
func TestReplayFindsASecondChain(t *testing.T) {
	t.Parallel()
	w := fourDays(t)
	key := bob
	for events.PartitionOf(key, testParts) == events.PartitionOf(alice, testParts) {
		key += "x"
	}
	m, _ := events.Frame{
		ID: "x", Type: "netsim.billing.credit_granted.v1", Stream: alice, PartitionKey: key, Sequence: 1,
		Time: at("2026-11-05 00:00:00"), DataVersion: 1,
	}.Message([]byte(`{"amount":"9","currency":"CREDIT","reference":"x"}`))
	number := events.PartitionOf(key, testParts)
	name := partitionName("billing", number)
	w.records[name] = append(w.records[name], events.Record{Message: m, Partition: number, Offset: int64(len(w.records[name]))})
	if reported := findings(replay(t, w, nil, "2026-11-06 12:00:00").Findings); !strings.Contains(reported, "is in the partition of "+key) {
		t.Errorf("found %q, want the other partition", reported)
	}
}

// TestReplayCorrections: the row of a closed month stays unchanged, and the
// replay adds its corrections to it.
func TestReplayCorrections(t *testing.T) {
	t.Parallel()
	for fix, want := range map[string]string{"-90": "", "-80": "cost is 160, by its events 150"} {
		w := newWorld(t)
		w.rate("", "cluster", "unit", "10.00", at("2026-11-01 00:00:00"))
		w.use(bob, "cluster", "start", 1, 1, at("2026-11-02 00:00:00"))
		w.accrue(bob, "cluster", at("2026-11-02 00:00:00"), at("2026-11-03 00:00:30"))
		var booked events.DailyCostRated
		for _, booked = range w.booked {
		}
		// In December an event arrives that says the item stopped at 15:00.
		w.use(bob, "cluster", "stop", 1, 0, at("2026-11-02 15:00:00"))
		booked.CorrectionOf, booked.DailyCostID, booked.Cost, booked.Date = booked.DailyCostID, w.next(), fix, "2026-12-05"
		w.append(bob, booked, at("2026-12-05 10:00:00"))
		r := replay(t, w, nil, "2026-12-06 12:00:00")
		if reported := findings(r.Findings); (reported == "") != (want == "") || !strings.Contains(reported, want) {
			t.Errorf("corrected by %s: found %q, want %q", fix, reported, want)
		}
	}
}

// TestReplayLeavesWhatCostsTheSame: late events that change units but no cost leave
// the row of a closed month unchanged.
func TestReplayLeavesWhatCostsTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rate("", "cluster", "unit", "0", at("2026-11-01 00:00:00"))
	w.use(bob, "cluster", "start", 1, 1, at("2026-11-02 00:00:00"))
	w.accrue(bob, "cluster", at("2026-11-02 00:00:00"), at("2026-11-03 00:00:30"))
	w.use(bob, "cluster", "update", 1, 4, at("2026-11-02 12:00:00"))
	w.use(bob, "cluster", "stop", 1, 0, at("2026-11-02 18:00:00"))
	if r := replay(t, w, nil, "2026-12-06 12:00:00"); len(r.Findings) > 0 || r.Rated.Days != 1 {
		t.Errorf("replay: %+v, want 1 day and no findings", r)
	}
}

// model is a read model in memory.
type model struct {
	at   []Expected
	rows map[string]map[string][]string // by table and key
}

func (m *model) At() []Expected { return m.at }

func (m *model) Rows(_ context.Context, table Table, each func([]string) error) error {
	for _, values := range m.rows[table.Name] {
		if err := each(values); err != nil {
			return err
		}
	}
	return nil
}

// TestReplayComparesEveryColumn: a replay reports every changed column, missing
// row and additional row, and nothing else.
func TestReplayComparesEveryColumn(t *testing.T) {
	t.Parallel()
	w := fourDays(t)
	b := newBooks()
	m := &model{rows: map[string]map[string][]string{}}
	for _, p := range w.log().open(events.Billing) {
		if err := p.advance(t.Context(), p.topic.Ends[p.number], b.fold); err != nil {
			t.Fatal(err)
		}
		m.at = append(m.at, Expected{Family: events.Billing, Partition: p.number, Next: p.next})
	}
	for name, rows := range b.tables() {
		m.rows[name] = map[string][]string{}
		for key, row := range rows {
			m.rows[name][key] = row()
		}
	}
	now := "2026-11-06 12:00:00"
	if r := replay(t, w, m, now); len(r.Findings) > 0 || r.Rows["daily_costs"] != int64(len(w.booked)) {
		t.Fatalf("an equal read model: %+v, want all rows compared and no findings", r)
	}
	found := func() string { return findings(replay(t, w, m, now).Findings) }
	for _, table := range Tables() {
		rows := m.rows[table.Name]
		for key := range maps.Clone(rows) {
			row := rows[key]
			for i, column := range table.Columns {
				was := row[i]
				row[i] = was + "7"
				if reported := found(); !strings.Contains(reported, table.Name) || i >= table.Keys && !strings.Contains(reported, column.Name+" is ") {
					t.Errorf("%s of %s was changed, but found %q", column.Name, table.Name, reported)
				}
				row[i] = was
			}
			delete(rows, key)
			if reported := found(); !strings.Contains(reported, "the read model has no such row") {
				t.Errorf("a row of %s was removed, but found %q", table.Name, reported)
			}
			rows[key] = row
			break // one row of each table is enough
		}
	}
	if reported := found(); reported != "" {
		t.Errorf("the read model is unchanged, but found %q", reported)
	}
}
