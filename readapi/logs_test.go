package readapi_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/internal/servicetest"
)

// TestLogFilters: for every combination of severity, component and page size, the
// list has exactly the matching entries, oldest first.
func TestLogFilters(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	id := submit(t, user, workload(8, "allReduce"))
	completed(user, id)
	w := p.Beside(t)
	levels := []string{"debug", "info", "warn", "error"}
	components := []string{"service", "validator", "provisioner", "engine", "rank", "mapping", "rsw-3"}
	type line struct {
		level     int
		component string
		message   string
	}
	var lines []line
	if _, err := w.DB.Exec(t.Context(), `DELETE FROM netsim.simulation_logs WHERE simulation_id = $1`, id); err != nil {
		t.Fatal(err)
	}
	for i := range 150 {
		l := line{i * 7 % 11 % 4, components[i*5%13%7], fmt.Sprintf("entry %d", i)}
		lines = append(lines, l)
		_, err := w.DB.Exec(t.Context(), `INSERT INTO netsim.simulation_logs (simulation_id, line, logged_at, level, component, message)
			VALUES ($1, $2, now(), $3, $4, $5)`, id, i+1, l.level, l.component, l.message)
		if err != nil {
			t.Fatal(err)
		}
	}
	path := simulations + "/" + id + "/logs"
	for least, level := range append([]string{""}, levels...) {
		for _, component := range append([]string{"", "nobody", "Engine"}, components...) {
			var want []string
			for _, l := range lines {
				if l.level >= least-1 && (component == "" || l.component == component) {
					want = append(want, l.message)
				}
			}
			for _, limit := range []int{7, 100} {
				query := fmt.Sprintf("?limit=%d", limit)
				if level != "" {
					query += "&level=" + level
				}
				if component != "" {
					query += "&component=" + component
				}
				if got := pages(t, user, path+query, "logs", "message"); !slices.Equal(got, want) {
					t.Errorf("%s (-want +got):\n%s", query, cmp.Diff(want, got))
				}
			}
		}
	}
	next := cursor(user, path+"?limit=5&level=info")
	for _, other := range []string{"?limit=5&level=warn", "?limit=5", "?limit=5&level=info&component=engine"} {
		user.Get(path+other+"&cursor="+next).Refused(400, "VALIDATION_ERROR")
	}
	first := user.Get(path + "?limit=1").Want(200).Object()["logs"].([]any)[0].(object)
	if first["level"] != levels[lines[0].level] || first["component"] != lines[0].component || first["timestamp"] == nil {
		t.Errorf("got the entry %v, want %v", first, lines[0])
	}
}
