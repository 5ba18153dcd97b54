//go:build tools

package operate_test

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"netsim/cmd/operate"
	"netsim/cmd/settings"
	"netsim/internal/servicetest"
	"netsim/internal/testduckdb"
	"netsim/internal/testworld"
	"netsim/rating"
)

// An analyst with a role that can only read attaches the lake by the SQL that netsim
// prints. What it shows of simulations and costs equals the API, to the last digit.
func TestAnAnalystAttachesTheLake(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.LakeEvery = 100 * time.Millisecond })
	account := servicetest.NewAccount()
	p.Grant(t, account, "100")
	client := p.Service(t, account)
	var simulations []string
	for range 2 {
		r := client.Post("/api/v1/simple/simulations", map[string]any{"workload": map[string]any{
			"ranks": 8, "phases": []any{map[string]any{"operationType": "allReduce", "dataSize": 1 << 20}},
		}}).Want(202)
		simulations = append(simulations, fmt.Sprint(r.Object()["simulationId"]))
	}
	client.Eventually("/api/v1/billing/items?status=closed", func(r servicetest.Reply) bool {
		items, _ := r.Object()["items"].([]any)
		return len(items) >= 2
	})
	today := time.Now().UTC()
	days := fmt.Sprintf("?startDate=%s&endDate=%s", today.AddDate(0, 0, -1).Format(time.DateOnly), today.Format(time.DateOnly))
	client.Eventually("/api/v1/billing/costs"+days, func(r servicetest.Reply) bool {
		costs, _ := r.Object()["costs"].([]any)
		return len(costs) >= 2
	})

	user := p.User(t, account)
	template := user.Get("/api/v1/templates?search=Single%20rack").Want(200).Object()["templates"].([]any)[0].(map[string]any)["id"]
	versioned := fmt.Sprint(user.Post(fmt.Sprintf("/api/v1/templates/%s/clone", template), map[string]any{"name": "first"}).Want(201).Object()["id"])
	at := func(version string) servicetest.Header { return servicetest.Header{Name: "If-Match", Value: version} }
	user.Patch("/api/v1/configurations/"+versioned, map[string]any{"name": "second"}, at(`"1"`)).Want(200)
	user.Patch("/api/v1/configurations/"+versioned, map[string]any{"globalParameters": map[string]any{}}, at(`"2"`)).Want(200)

	tools, err := operate.OpenTools(t.Context(), p.Config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer tools.Close()
	awaitLake(t, tools)
	role := "analyst_" + account
	if created, err := tools.GrantLake(t.Context(), role, "it's a secret"); err != nil || !created {
		t.Fatalf("created %t, %v", created, err)
	}
	duck := attachLake(t, p, tools, role, "it's a secret")
	requireSameCosts(t, client, duck, account, days)
	requireResources(t, client, duck, account, days)
	requireVersions(t, user, duck, versioned)
	user.Delete("/api/v1/configurations/"+versioned, at(`"3"`)).Want(204)
	awaitLake(t, tools)
	if got := duck.Query(t, `SELECT count(*) > 1, count(*) = count(valid_to) FROM lake.configuration_versions WHERE configuration_id = '`+versioned+`'`); !slices.Equal(got[0], []string{"True", "True"}) {
		t.Errorf("the versions of a deleted configuration: there, and all ended: %s", got)
	}
	for _, id := range simulations {
		var shown struct{ Status, CreatedAt, StartedAt, CompletedAt string }
		client.Get("/api/v1/simulations/" + id).Want(200).Into(&shown)
		got := duck.Query(t, `SELECT outcome, strftime(requested_at, '%Y-%m-%dT%H:%M:%S'), strftime(started_at, '%Y-%m-%dT%H:%M:%S'), strftime(ended_at, '%Y-%m-%dT%H:%M:%S'),
			queue_seconds >= 0 AND run_seconds >= 0 FROM lake.simulation_runs WHERE simulation_id = '`+id+`'`)
		want := [][]string{{shown.Status, shown.CreatedAt[:19], shown.StartedAt[:19], shown.CompletedAt[:19], "True"}}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("the run (-API +lake):\n%s", diff)
		}
	}
	if got := duck.Query(t, `SELECT sum(simulations) FROM lake.configuration_versions_in_use JOIN lake.simulation_runs USING (configuration_id) WHERE account_id = '`+account+`'`)[0][0]; got != "2" {
		t.Errorf("the configurations in use have %s simulations", got)
	}
	for _, sql := range []string{`CREATE TABLE lake.mine (i INT)`, `DELETE FROM lake.billing`, `DROP VIEW lake.daily_costs`} {
		if _, err := duck.Try(sql); err == nil {
			t.Errorf("the analyst may %s", sql)
		}
	}
	duck.Query(t, fmt.Sprintf(`ATTACH '%s' AS catalogue (TYPE postgres)`, roleURL(t, p.Config.Postgres, role, "it's a secret")))
	for _, sql := range []string{
		`SELECT count(*) FROM catalogue.readmodel.daily_costs`, `UPDATE catalogue.lake.netsim_position SET next = 0`, `DELETE FROM catalogue.lake.ducklake_data_file`,
	} {
		if _, err := duck.Try(sql); err == nil {
			t.Errorf("the role may %s", sql)
		}
	}

	if err := tools.DropLake(t.Context()); err != nil { // the service makes it again
		t.Fatal(err)
	}
	testworld.Await(t, func() bool { _, err := tools.Lake(t.Context()); return err == nil })
	awaitLake(t, tools)
	if created, err := tools.GrantLake(t.Context(), role, ""); err != nil || created {
		t.Fatalf("created %t, %v", created, err)
	}
	requireSameCosts(t, client, attachLake(t, p, tools, role, "it's a secret"), account, days)
}

// awaitLake waits until the lake has every fact.
func awaitLake(t *testing.T, tools *operate.Tools) {
	t.Helper()
	testworld.Await(t, func() bool {
		s, err := tools.Lake(t.Context())
		return err == nil && s.Facts > 0 && s.LagFacts == 0
	})
}

// attachLake runs the SQL that netsim prints, with the places filled in. The extensions
// are loaded already.
func attachLake(t *testing.T, p *servicetest.Program, tools *operate.Tools, role, password string) *testduckdb.Session {
	t.Helper()
	text, err := tools.AttachLake(role, "")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, p.Config.S3SecretKey) || strings.Contains(text, p.Config.S3AccessKey) {
		t.Errorf("a secret is printed: %s", text)
	}
	if with, err := tools.AttachLake(role, password); err != nil || !strings.Contains(with, p.Config.S3SecretKey) {
		t.Errorf("the keys were asked for and are not printed: %v", err)
	}
	quoted := strings.ReplaceAll(`'`+strings.ReplaceAll(password, `'`, `\'`)+`'`, `'`, `''`)
	text = strings.NewReplacer("<access key>", p.Config.S3AccessKey, "<secret key>", p.Config.S3SecretKey, "''<password of the role>''", quoted).Replace(text)
	duck := testduckdb.Open(t)
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "INSTALL") && !strings.HasPrefix(line, "LOAD") {
			duck.Query(t, line)
		}
	}
	return duck
}

// requireResources compares what each resource and each simulation cost with the items
// and costs of the API.
func requireResources(t *testing.T, client *servicetest.Client, duck *testduckdb.Session, account, days string) {
	t.Helper()
	var items struct {
		Items []struct {
			BillingItemID int64
			Details       struct{ ResourceType, ResourceID string }
		}
	}
	client.Get("/api/v1/billing/items?limit=100").Want(200).Into(&items)
	resources := map[int64][]string{}
	for _, i := range items.Items {
		resources[i.BillingItemID] = []string{i.Details.ResourceType, i.Details.ResourceID}
	}
	var listed struct {
		Costs []struct {
			DailyCostID, BillingItemID int64
			Cost                       string
		}
	}
	client.Get("/api/v1/billing/costs" + days + "&limit=100").Want(200).Into(&listed)
	var want [][]string
	simulations := map[string]string{}
	for _, c := range listed.Costs {
		of := resources[c.BillingItemID]
		want = append(want, append([]string{fmt.Sprint(c.DailyCostID)}, of...))
		if of[0] == "simulation" || of[0] == "results" {
			simulations[of[1]] = add(t, simulations[of[1]], c.Cost)
			simulations["all"] = add(t, simulations["all"], c.Cost)
		}
	}
	got := duck.Query(t, `SELECT daily_cost_id, resource_type, resource_id FROM lake.cost_lines WHERE account_id = '`+account+`' ORDER BY daily_cost_id`)
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("the resources (-API +lake):\n%s", diff)
	}
	sums := map[string]string{}
	for _, row := range duck.Query(t, `SELECT simulation_id, cost FROM lake.simulation_costs WHERE account_id = '`+account+`' AND cost = run_cost + results_cost
		UNION ALL SELECT 'all', sum(cost) FROM lake.configuration_costs WHERE account_id = '`+account+`' AND configuration_id IS NOT NULL AND workspace_id IS NOT NULL`) {
		sums[row[0]] = plain(t, row[1])
	}
	if diff := gocmp.Diff(simulations, sums); diff != "" || len(sums) != 3 {
		t.Errorf("the costs of the simulations (-API +lake):\n%s", diff)
	}
}

func add(t *testing.T, sum, amount string) string {
	t.Helper()
	sum, err := rating.Add(cmp.Or(sum, "0"), amount)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// requireVersions compares the versions of a configuration, and when each began, with the
// API.
func requireVersions(t *testing.T, user *servicetest.Client, duck *testduckdb.Session, id string) {
	t.Helper()
	var listed struct {
		Versions []struct {
			Version   int64
			CreatedAt string
		}
	}
	user.Get("/api/v1/configurations/" + id + "/versions").Want(200).Into(&listed)
	slices.SortFunc(listed.Versions, func(a, b struct {
		Version   int64
		CreatedAt string
	}) int {
		return int(a.Version - b.Version)
	})
	var want [][]string
	for i, v := range listed.Versions {
		to := ""
		if i+1 < len(listed.Versions) {
			to = listed.Versions[i+1].CreatedAt
		}
		want = append(want, []string{fmt.Sprint(v.Version), v.CreatedAt, to})
	}
	const form = `'%Y-%m-%dT%H:%M:%S.%gZ'`
	got := duck.Query(t, `SELECT configuration_version, strftime(valid_from, `+form+`), strftime(valid_to, `+form+`)
		FROM lake.configuration_versions WHERE configuration_id = '`+id+`' ORDER BY configuration_version`)
	if diff := gocmp.Diff(want, got); diff != "" || len(got) < 2 {
		t.Errorf("the versions (-API +lake):\n%s", diff)
	}
	names := duck.Query(t, `SELECT any_value(configuration_id), first(name ORDER BY valid_from), last(name ORDER BY valid_from), count(DISTINCT workspace_id) FROM lake.configuration_versions WHERE configuration_id = '`+id+`'`)
	if want := []string{id, "first", "second", "1"}; !slices.Equal(names[0], want) {
		t.Errorf("the versions have the names and workspaces %s, want %s", names[0], want)
	}
}

func roleURL(t *testing.T, postgres, role, password string) string {
	t.Helper()
	u, err := url.Parse(postgres)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(role, password)
	return u.String()
}

// requireSameCosts compares the costs in the lake with the API's.
func requireSameCosts(t *testing.T, client *servicetest.Client, duck *testduckdb.Session, account, days string) {
	t.Helper()
	var listed struct {
		Costs []struct {
			DailyCostID                               int64
			Cost, RateName, CostCurrency, WorkspaceID string
		}
	}
	client.Get("/api/v1/billing/costs" + days + "&limit=100").Want(200).Into(&listed)
	got := duck.Query(t, `SELECT daily_cost_id, cost, rate_name, currency, workspace_id FROM lake.cost_lines WHERE account_id = '`+account+`' ORDER BY daily_cost_id`)
	want := [][]string{}
	for _, c := range listed.Costs {
		want = append(want, []string{fmt.Sprint(c.DailyCostID), plain(t, c.Cost), c.RateName, c.CostCurrency, c.WorkspaceID})
	}
	for _, row := range got {
		row[1] = plain(t, row[1])
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("the costs (-API +lake):\n%s", diff)
	}
	var raw map[string]any
	r := client.Get("/api/v1/billing/costs/summary" + days).Want(200)
	r.Into(&raw)
	delete(raw, "startDate")
	delete(raw, "endDate")
	for currency, part := range raw {
		of, ok := part.(map[string]any)
		if !ok {
			continue
		}
		for group, column := range map[string]string{"byRate": "rate_name", "byWorkspace": "workspace_id"} {
			want := map[string]string{}
			for key, total := range of[group].(map[string]any) { //nolint:errcheck // the contract says so
				want[key] = plain(t, fmt.Sprint(total))
			}
			got := map[string]string{}
			for _, row := range duck.Query(t, fmt.Sprintf(`SELECT %s, sum(cost) FROM lake.daily_costs WHERE account_id = '%s' AND currency = '%s' GROUP BY ALL`, column, account, currency)) {
				got[row[0]] = plain(t, row[1])
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("the costs %s (-API +lake):\n%s", group, diff)
			}
		}
		total := duck.Query(t, fmt.Sprintf(`SELECT sum(cost) FROM lake.daily_costs WHERE account_id = '%s' AND currency = '%s'`, account, currency))[0][0]
		if plain(t, total) != plain(t, fmt.Sprint(of["total"])) {
			t.Errorf("the total is %s in the lake and %v in the API", total, of["total"])
		}
	}
}
