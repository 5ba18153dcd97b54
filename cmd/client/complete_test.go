package client

import (
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"
	"github.com/posener/complete"

	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
)

// TestIDsComeFromTheService: a shell gets the ids of the service that the command would ask,
// and none when it cannot be asked.
func TestIDsComeFromTheService(t *testing.T) {
	t.Parallel()
	p, account := servicetest.Shared(t), servicetest.NewAccount()
	workspace := p.Service(t, account).Post("/api/v1/workspaces", map[string]any{"name": "mine"}).Want(201).Text("id")
	env := map[string]string{"NETSIM_URL": p.URL, "NETSIM_TOKEN": teststack.Issuer(t).Token(devissuer.Options{Account: account})}
	terminal := &Terminal{Home: t.TempDir(), Now: time.Now, Getenv: func(name string) string { return env[name] }}
	if err := terminal.save(t.Context(), book{Profiles: map[string]profile{"one": {URL: "http://127.0.0.1:1"}, "two": {}}}, bookFile); err != nil {
		t.Fatal(err)
	}
	parser, err := kong.New(&Commands{}, kong.Name("netsim"))
	if err != nil {
		t.Fatal(err)
	}
	command, err := kongcompletion.Command(parser, kongcompletion.WithPredictors(predictors(t.Context(), terminal)))
	if err != nil {
		t.Fatal(err)
	}
	predict := func(line string) []string {
		words := strings.Fields(line)
		return command.Predict(complete.Args{All: words, Completed: words, LastCompleted: words[len(words)-1]})
	}
	has := func(line, want string) {
		t.Helper()
		if got := predict(line); !strings.Contains(" "+strings.Join(got, " ")+" ", " "+want+" ") {
			t.Errorf("netsim %s goes on with %q, without %s", line, got, want)
		}
	}
	has("sim list --workspace", workspace)
	has("sim", "explain")
	has("profile use", "two")
	has("sim submit --template", p.User(t, account).Get("/api/v1/templates").Want(200).Object()["templates"].([]any)[0].(map[string]any)["id"].(string))
	for _, line := range []string{"sim watch", "study table", "config show", "sim list --profile one --workspace", "sim list --profile=none --workspace"} {
		for _, got := range predict(line) {
			if strings.Contains(got, "_") {
				t.Errorf("netsim %s goes on with %s", line, got)
			}
		}
	}
}
