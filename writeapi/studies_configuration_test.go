package writeapi_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
)

// seed is the field of a configuration's seed.
const seed = "globalParameters.SimulationParameters.RandomSeed.value"

// ofConfiguration returns the request of a study of a configuration with one axis.
func ofConfiguration(configuration, field string, values ...any) object {
	return object{
		"name": "varied", "base": object{"configuration": object{"configurationId": configuration, "duration": "10s"}},
		"axes": []object{{"field": field, "values": values}},
	}
}

// TestAStudyOfAConfiguration: the points of a configuration have its document, or that of a
// template, with their own traceset, mapping file, duration and parameters. Each run has a
// validated configuration in the workspace.
func TestAStudyOfAConfiguration(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	own := newWorkspace(t, p.Service(t, account), "own")
	user := p.User(t, account, own)
	base := newValidConfiguration(t, user, own, workload(16, phase("allReduce", "", 1024)))
	path := configurations + "/" + base
	first := pick(whole(user, path), "activeTraceset.id")
	second := traceset(t, user, 8)
	template := user.Post(templates, with(aTemplate("racks-of-eight"), object{"visibility": "account"})).Want(201).Object()["id"].(string)
	reversed := newRecorder(t, p).record(account, own, "reversed.txt", reversedMapping(16))
	run := user.Post(simulations, object{"configurationId": base, "name": "by-hand", "duration": "10s"}).Want(201).Object()["id"].(string)
	awaitStatus(user, run, "completed")

	axes := []object{
		{"field": "tracesetId", "values": []any{first, first, second, first, first}},
		{"field": "mappingFileId", "values": []any{nil, reversed, nil, nil, nil}},
		{"field": "duration", "values": []any{"10s", "10s", "10s", "PT20S", "10s"}},
		{"field": "components[rsw].typedParameters.SwitchingCapacity.value", "values": []any{0, 0, 0, 0, 0}},
		{"field": seed, "values": []any{1, 1, 1, 1, 2}},
	}
	body := with(ofConfiguration(base, ""), object{"axes": axes, "method": "list"})
	leaf := find(whole(user, path)["components"], "rsw")
	if leaf == nil {
		t.Fatalf("the configuration has the components %v", whole(user, path)["components"])
	}
	capacity := pick(leaf, "typedParameters.SwitchingCapacity.value")
	axes[3]["values"] = []any{capacity, capacity, capacity, capacity, capacity}
	started := user.Post(studies, body, key("k")).Want(201).Object()
	id := started["id"].(string)
	if started["workspaceId"] != own || pick(started, "base.configuration.configurationVersion") != 1.0 || pick(started, "base.configuration.configurationId") != base {
		t.Errorf("the study is %v, want one of version 1 in %s", started, own)
	}
	user.Patch(path+"/traceset", object{"tracesetId": second}).Want(200) // makes version 2
	done := awaitStudy(user, id, "completed")
	if pick(done, "progress.completed") != 4.0 || pick(done, "progress.shared") != 1.0 {
		t.Errorf("the study ends with %v, want 4 runs and that by hand", done["progress"])
	}
	same(t, "a repetition", started, user.Post(studies, body, key("k")).Want(201).Object())

	rows := rowsOf(user, id)
	if rows[0]["simulationId"] != run || rows[0]["shared"] != true {
		t.Errorf("point 0 is %v, want the run by hand, %s", rows[0], run)
	}
	var ids []string
	for point, want := range []struct {
		traceset, mapping any
		version           float64
		ranks             float64
	}{{first, nil, 1, 16}, {first, reversed, 2, 16}, {second, nil, 1, 8}, {first, nil, 1, 16}, {first, nil, 1, 16}} {
		row := rows[point]
		if pick(row, "figures.ranks") != want.ranks || pick(row, "fabric.price") == nil {
			t.Errorf("point %d has the row %v, want %v ranks and a price", point, row, want.ranks)
		}
		if point == 0 {
			continue
		}
		s := user.Get(simulations + "/" + row["simulationId"].(string)).Want(200).Object()
		made := user.Get(configurations + "/" + s["configurationId"].(string)).Want(200).Object()
		ids = append(ids, s["configurationId"].(string))
		if s["configurationVersion"] != want.version || idOf(s["appliedMappingFile"]) != want.mapping {
			t.Errorf("the run of point %d is %v", point, s)
		}
		if made["name"] != fmt.Sprintf("varied-%d", point) || made["status"] != "validated" || made["version"] != want.version || made["workspaceId"] != own ||
			idOf(made["activeTraceset"]) != want.traceset || idOf(made["activeMappingFile"]) != want.mapping {
			t.Errorf("the configuration of point %d is %v", point, made)
		}
		if got := pick(made, seed); got != []any{1.0, 1.0, 1.0, 1.0, 2.0}[point] {
			t.Errorf("the seed of point %d is %v", point, got)
		}
		same(t, "findings", true, user.Post(configurations+"/"+s["configurationId"].(string)+"/validate", nil).Want(200).Object()["valid"])
	}

	version := object{"configuration": object{"configurationId": base, "configurationVersion": 1, "duration": "10s"}}
	if all := awaitStudy(user, startStudy(user, with(body, object{"base": version})), "completed"); pick(all, "progress.shared") != 5.0 {
		t.Errorf("the same study again ends with %v, want all results of the first", all["progress"])
	}
	twice := ofConfiguration(base, "templateId", template)
	again := awaitStudy(user, startStudy(user, twice), "completed") // of version 2, which has the second traceset
	row := rowsOf(user, again["id"].(string))[0]
	made := user.Get(simulations + "/" + row["simulationId"].(string)).Want(200).Object()
	if row["status"] != "completed" || pick(row, "figures.ranks") != 8.0 || pick(row, "fabric.nics") != 8.0 {
		t.Errorf("the point of the template is %v of %v", row, made)
	}
	if find(whole(user, configurations+"/"+made["configurationId"].(string))["containers"], "rack") == nil {
		t.Error("the point of the template does not have its network")
	}

	outsider := p.Client(t, devissuer.Options{Account: account, User: "another", Workspaces: []string{events.NewID(events.WorkspacePrefix)}})
	for _, part := range []string{"", "/events", "/results", "/results.csv", "/results.parquet", "/analysis", "/analysis.csv"} {
		outsider.Get(studies+"/"+id+part).Refused(403, "FORBIDDEN")
	}
	outsider.Post(studies, twice).Refused(403, "FORBIDDEN")
	outsider.Post(studies+"/preview", twice).Refused(403, "FORBIDDEN")

	user.Delete(studies + "/" + id).Want(200)
	for _, id := range ids {
		user.Eventually(configurations+"/"+id, func(r servicetest.Reply) bool { return r.Status == 404 })
	}
	user.Get(path).Want(200)
}

// TestAStudyEndsWithItsWorkspace: a running study of a configuration is deleted with its
// runs and their configurations.
func TestAStudyEndsWithItsWorkspace(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	service := p.Service(t, account)
	own := newWorkspace(t, service, "ends")
	base := newValidConfiguration(t, service, own, workload(8, phase("allReduce", "", 1024)))
	seeds := make([]any, 300) // more than are unfinished at a time
	for i := range seeds {
		seeds[i] = i + 1
	}
	id := startStudy(service, ofConfiguration(base, seed, seeds...))
	of := func(point int) string {
		return configurations + "/" + events.DerivedID(events.ConfigurationPrefix, id, fmt.Sprint(point))
	}
	service.Eventually(of(1), func(r servicetest.Reply) bool { return r.Status == 200 })
	if s := service.Get(studies + "/" + id).Want(200).Object(); s["status"] != "running" {
		t.Errorf("the study is %v, want it running", s["status"])
	}
	service.Delete(workspaces + "/" + own).Want(202)
	service.Eventually(studies+"/"+id, func(r servicetest.Reply) bool { return r.Status == 404 })
	for point := range seeds {
		service.Eventually(of(point), func(r servicetest.Reply) bool { return r.Status == 404 })
	}
}

// idOf returns the id of an attachment, nil for none.
func idOf(attached any) any {
	a, _ := attached.(object)
	return a["id"]
}

// reversedMapping places the ranks on the servers from the last to the first.
func reversedMapping(ranks int) string {
	var text strings.Builder
	for rank := range ranks {
		fmt.Fprintf(&text, "%d, %d\n", rank, ranks-1-rank)
	}
	return text.String()
}

func TestStudiesOfConfigurationsAreRefused(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	own := newWorkspace(t, p.Service(t, account), "own")
	user := p.User(t, account, own)
	base := newValidConfiguration(t, user, own, workload(8, phase("allReduce", "", 1024)))
	elsewhere := newRecorder(t, p).record(account, events.DefaultWorkspace, "elsewhere.txt", identityMapping(8))
	large := traceset(t, user, 64)
	template := user.Post(templates, aTemplate("of-all")).Want(201).Object()["id"].(string)
	unknown := events.NewID(events.TracesetPrefix)
	many := make([]any, 1001)
	for i := range many {
		many[i] = i + 1
	}
	for name, c := range map[string]struct {
		changes object
		message string
	}{
		"both bases":              {object{"base": object{"simple": workload(8, phase("allReduce", "", 1024)), "configuration": object{"configurationId": base, "duration": "1s"}}}, "base must have either simple or configuration"},
		"a base of no kind":       {object{"base": object{}}, "base must have either simple or configuration"},
		"a template":              {object{"base": object{"configuration": object{"configurationId": template, "duration": "1s"}}}, "template workspace"},
		"no duration":             {object{"base": object{"configuration": object{"configurationId": base, "duration": "soon"}}}, "base.configuration.duration "},
		"another workspace":       {object{"workspaceId": events.DefaultWorkspace}, "workspaceId must be that of the configuration"},
		"an unknown template":     {ofConfiguration(base, "templateId", base), "axes[0].values[0]: "},
		"a template by number":    {ofConfiguration(base, "templateId", 7), "axes[0].values[0] must be the text of a templateId, got 7"},
		"no template":             {ofConfiguration(base, "templateId", nil), "axes[0].values[0] must be the text of a templateId, got null"},
		"an unknown traceset":     {ofConfiguration(base, "tracesetId", unknown), "axes[0].values[0]: tracesetId " + unknown + " is unknown"},
		"a file of others":        {ofConfiguration(base, "mappingFileId", elsewhere), "axes[0].values[0]: mapping file " + elsewhere + " is not in workspace"},
		"an unknown file":         {ofConfiguration(base, "mappingFileId", events.NewID(events.MappingFilePrefix)), "axes[0].values[0]: "},
		"no room":                 {ofConfiguration(base, "tracesetId", large), "point 0 (tracesetId=\"" + large + "\"): "},
		"no traceset":             {ofConfiguration(base, "tracesetId", nil), "point 0 (tracesetId=null): "},
		"a wrong duration":        {ofConfiguration(base, "duration", "1s", "soon"), "point 1 (duration=\"soon\"): duration "},
		"a duration by number":    {ofConfiguration(base, "duration", 5), "point 0 (duration=5): duration must be a string, got 5"},
		"an unknown component":    {ofConfiguration(base, "components[none].name", "x"), "the base has no such field"},
		"an unknown member":       {ofConfiguration(base, "topology.colour", "red"), "topology.colour is unknown"},
		"an unknown parameter":    {ofConfiguration(base, "globalParameters.SimulationParameters.Colour", object{"value": 1, "type": "uint"}), "Colour"},
		"a value without a form":  {ofConfiguration(base, "globalParameters.SimulationParameters.RandomSeed", 7), "globalParameters.SimulationParameters.RandomSeed"},
		"a value out of range":    {ofConfiguration(base, "topology.components[0].count", -1), "topology.components[0].count must be "},
		"what attachments decide": {ofConfiguration(base, "applications[0].typedParameters.ChakraConfiguration.UseMapping.value", true), "axes[0].field must be tracesetId or mappingFileId"},
		"too many documents":      {ofConfiguration(base, seed, many...), "more than 1000 different documents"},
	} {
		t.Run(name, func(t *testing.T) {
			body := with(ofConfiguration(base, seed, 1), c.changes)
			if message := user.Post(studies, body).Refused(400, "VALIDATION_ERROR"); !strings.Contains(message, c.message) {
				t.Errorf("got the message %q, want one with %q", message, c.message)
			}
		})
	}
	none := with(ofConfiguration(events.NewID(events.ConfigurationPrefix), seed, 1), nil)
	user.Post(studies, none).Refused(404, "NOT_FOUND")
	user.Post(studies+"/preview", none).Refused(404, "NOT_FOUND")
	version := maps.Clone(none)
	version["base"] = object{"configuration": object{"configurationId": base, "configurationVersion": 9, "duration": "1s"}}
	user.Post(studies, version).Refused(404, "NOT_FOUND")
	if n := len(user.Get(studies).Want(200).Object()["studies"].([]any)); n != 0 {
		t.Errorf("%d studies were started", n)
	}
	forecast := user.Post(studies+"/preview", ofConfiguration(base, seed, 1, 2)).Want(200).Object()
	if forecast["points"] != 2.0 || forecast["runs"] != 2.0 {
		t.Errorf("two seeds are forecast as %v", forecast)
	}
	p.SetQuota(t, account, commands.QuotaStudies, 0)
	refusedByQuota(t, `"studies.running";q=0`, user.Post(studies, ofConfiguration(base, seed, 1)))
}
