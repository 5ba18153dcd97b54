package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"netsim/infra/devissuer"
)

// TestMain runs the command instead of the tests when NETSIM_COMMAND_TEST is set, so
// the tests need no build of the command.
func TestMain(m *testing.M) {
	if os.Getenv("NETSIM_COMMAND_TEST") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// netsim runs the command in an environment without settings.
func netsim(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, said strings.Builder
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = []string{"NETSIM_COMMAND_TEST=1"}, &out, &said
	err := cmd.Run()
	if exit, is := errors.AsType[*exec.ExitError](err); is {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return out.String(), said.String(), code
}

// option describes a command-line option: a command line that uses it, the test that
// checks its effect, and refused command lines with parts of their errors.
type option struct {
	line    string
	seen    string // file and function of the test
	refused map[string]string
}

const fixtures = "../../audit/testdata/"

// optionRows returns a row for every option and argument of every command.
func optionRows() map[string]option {
	const (
		twoDatabases = "internal/faults/two_databases_test.go TestTwoDatabasesHoldTheSame"
		bundles      = "cmd/netsim/audit_verify_test.go TestVerifyABundleByCommand"
		completes    = "cmd/netsim/completion_test.go TestCompletionByCommand"
		tokens       = "cmd/netsim/options_test.go TestTokenByCommand"
		audits       = "cmd/operate/audit_test.go TestAudit"
		start        = "cmd/netsim/quickstart_test.go TestQuickstart"
		rebuilt      = "infra/projector/rebuild_test.go TestARebuiltReadModelIsTheLiveOne"
		stepped      = "cmd/netsim/streams_step_test.go TestAStreamIsStepped"
		parked       = "internal/faults/parked_test.go TestParkedStreamsAreSeenAndRetried"
		status       = "internal/faults/status_test.go TestStatusOfStreamsReactionsAndReadModels"
		working      = "internal/faults/status_test.go TestStatusOfJobsAndRuns"
		dead         = "internal/faults/dead_letters_test.go TestDeadLettersAreSeenAndRetried"
		costs        = "billing/focus/export_test.go TestExport"
		engines      = "runs/execution/host/host_test.go "
		b            = "audit verify " + fixtures + "bundle.jsonl "
		exported     = "cmd/netsim/events_test.go TestExportByCommand"
		tailed       = "cmd/netsim/events_test.go TestTailByCommand"
		exports      = "events export --to x "
		export       = "billing export --from 2026-01-01 --to 2026-01-02 --out x "
		serve        = "engine serve --token t --data d "
		least        = "--limit must be at least 1"
		above        = "must be above zero"
		bundle       = "are about a bundle: name its file"
		lakes        = "cmd/operate/lake_test.go TestAnAnalystAttachesTheLake"
		joined       = "internal/faults/heads_test.go TestAVerificationJoinsAtACheckpoint"
		public       = "internal/faults/publishers_test.go TestPublishersAreKilled"
	)
	return map[string]option{
		"completion <shell>":                   {"completion bash", completes, map[string]string{"completion csh": "must be one of"}},
		"completion --code":                    {"completion bash --code", completes, nil},
		"token --service":                      {"token --service", tokens, nil},
		"token --user":                         {"token --user u", tokens, nil},
		"token --account":                      {"token --service --account *", tokens, map[string]string{"token --account *": "is for a service token"}},
		"token --workspaces":                   {"token --workspaces a,b", tokens, nil},
		"token --role":                         {"token --role billing", tokens, map[string]string{"token --role admin": "must be one of"}},
		"token --ttl":                          {"token --ttl 1m", tokens, map[string]string{"token --ttl 0s": "longer than 0s"}},
		"token --data":                         {"token --data d", tokens, nil},
		"readmodel rebuild <schema>":           {"readmodel rebuild x", rebuilt, nil},
		"readmodel rebuild --once":             {"readmodel rebuild x --once", rebuilt, nil},
		"readmodel rebuild --accept-lost-tail": {"readmodel rebuild x --accept-lost-tail r", "internal/faults/lost_tail_test.go TestALostTailIsRefusedOrRecorded", nil},
		"readmodel diff <schema>":              {"readmodel diff x", "infra/projector/promote_test.go TestDiffUnderLoad", nil},
		"readmodel diff --with-postgres-file":  {"readmodel diff x --with-postgres-file " + fixtures + "first.key", twoDatabases, map[string]string{"readmodel diff x --with-postgres-file none": "no such file"}},
		"readmodel diff --timeout":             {"readmodel diff x --timeout 1m", twoDatabases, map[string]string{"readmodel diff x --timeout 0s": "longer than 0s"}},
		"readmodel digest --schema":            {"readmodel digest --schema x", twoDatabases, nil},
		"readmodel digest --at":                {"readmodel digest --at workspaces/0:1", twoDatabases, map[string]string{"readmodel digest --at x": "not a position"}},
		"readmodel digest --ranges":            {"readmodel digest --ranges 4", twoDatabases, map[string]string{"readmodel digest --ranges 3": "power of two", "readmodel digest --ranges 8192": "power of two"}},
		"readmodel digest --timeout":           {"readmodel digest --timeout 1m", twoDatabases, map[string]string{"readmodel digest --timeout 0s": "longer than 0s"}},
		"readmodel drop <schema>":              {"readmodel drop x", "infra/projector/promote_test.go TestWhatIsNotDroppedOrPromoted", nil},
		"readmodel promote <schema>":           {"readmodel promote x", "internal/faults/promote_test.go TestPromotionIsNotNoticed", nil},
		"readmodel promote --timeout":          {"readmodel promote x --timeout 1m", "infra/projector/promote_test.go TestTheSwitchWaitsForTheLastRecords", map[string]string{"readmodel promote x --timeout 0s": "longer than 0s"}},
		"readmodel status --limit":             {"readmodel status --limit 2", status, map[string]string{"readmodel status --limit 0": least}},
		"readmodel status --json":              {"readmodel status --json", status, nil},
		"upgrade status --json":                {"upgrade status --json", "cmd/operate/upgrade_test.go TestTheLevelIsRaised", nil},
		"streams status --limit":               {"streams --limit 2", status, map[string]string{"streams --limit 0": least}},
		"streams status --json":                {"streams --json", status, nil},
		"reactions status --limit":             {"reactions status --limit 2", status, map[string]string{"reactions --limit 0": least}},
		"reactions status --json":              {"reactions --json", status, nil},
		"jobs --limit":                         {"jobs --limit 2", working, map[string]string{"jobs --limit=-1": least}},
		"jobs --json":                          {"jobs --json", working, nil},
		"runs --limit":                         {"runs --limit 2", working, map[string]string{"runs --limit 0": least}},
		"runs --json":                          {"runs --json", working, nil},

		"events status --limit":       {"events status --limit 2", public, map[string]string{"events --limit 0": least}},
		"events status --json":        {"events --json", public, nil},
		"events republish <family>":   {"events republish billing", public, map[string]string{"events republish": "<family>"}},
		"reactions dead --json":       {"reactions dead --json", dead, nil},
		"reactions show <letter>":     {"reactions show x", dead, nil},
		"reactions show --json":       {"reactions show x --json", dead, nil},
		"reactions retry <letter>":    {"reactions retry x", dead, map[string]string{"reactions retry": "name a dead letter, or --all"}},
		"reactions retry --all":       {"reactions retry --all", dead, map[string]string{"reactions retry x --all": "name a dead letter, or --all"}},
		"reactions retry --json":      {"reactions retry x --json", dead, nil},
		"streams parked --read-model": {"streams parked --read-model next", parked, nil},
		"streams parked --json":       {"streams parked --json", parked, nil},
		"lake status --json":          {"lake --json", lakes, nil},
		"lake grant <role>":           {"lake grant r", lakes, nil},
		"lake grant --password-file":  {"lake grant r --password-file main.go", lakes, map[string]string{"lake grant r --password-file missing": "missing"}},
		"lake attach --role":          {"lake attach --role r", lakes, nil},
		"lake attach --password-file": {"lake attach --role r --password-file options_test.go --secrets", lakes, map[string]string{"lake attach --role r --password-file none --secrets": "no such file"}},
		"lake attach --secrets":       {"lake attach --role r --password-file options_test.go --secrets", lakes, map[string]string{"lake attach --secrets": "the password of a reader", "lake attach --role r --secrets": "the password of a reader"}},
		"lake drop --yes":             {"lake drop --yes", lakes, nil},
		"streams show <stream>":       {"streams show x", parked, nil},
		"streams show --read-model":   {"streams show x --read-model next", parked, nil},
		"streams show --json":         {"streams show x --json", parked, nil},
		"streams step <stream>":       {"streams step x", stepped, nil},
		"streams step --from":         {"streams step x --from 2", stepped, map[string]string{"streams step x --from 0": "must be above zero"}},
		"streams step --limit":        {"streams step x --limit 1", stepped, map[string]string{"streams step x --limit=-1": "not below it"}},
		"streams step --states":       {"streams step x --no-states", stepped, nil},
		"streams step --json":         {"streams step x --json", stepped, nil},
		"streams retry <stream>":      {"streams retry x", parked, map[string]string{"streams retry": "name a stream, or --all"}},
		"streams retry --all":         {"streams retry --all", parked, map[string]string{"streams retry x --all": "name a stream, or --all"}},
		"streams retry --json":        {"streams retry x --json", parked, nil},

		"quotas show <account>": {"quotas show a", "cmd/netsim/quotas_test.go TestQuotasOnTheCommandLine", nil},
		"quotas set <account>":  {"quotas set a runs=1", "cmd/netsim/quotas_test.go TestQuotasOnTheCommandLine", nil},
		"quotas set <limits>":   {"quotas set a runs=1", "cmd/netsim/quotas_test.go TestQuotasOnTheCommandLine", map[string]string{"quotas set a": "<limits>"}},

		"person forget <user>": {"person forget user_1", "cmd/service/person_test.go TestPersonsAreForgotten", nil},

		"credit grant <account>":   {"credit grant a 1 --reference r", "cmd/operate/grant_test.go TestGrant", nil},
		"credit grant <amount>":    {"credit grant a 1 --reference r", "cmd/operate/grant_test.go TestGrant", nil},
		"credit grant --reference": {"credit grant a 1 --reference r", "cmd/operate/grant_test.go TestGrant", map[string]string{"credit grant a 1": "missing flags: --reference"}},
		"credit grant --currency":  {"credit grant a 1 --reference r --currency USD", "cmd/operate/grant_test.go TestGrant", map[string]string{"credit grant a 1 --reference r --currency EUR": "must be one of"}},

		"billing rates apply <file>":    {"billing rates apply options_test.go", "cmd/operate/rates_test.go TestPricesAreSetFromTomorrowOn", map[string]string{"billing rates apply none": "no such file"}},
		"billing rates apply --dry-run": {"billing rates apply options_test.go --dry-run", "cmd/operate/rates_test.go TestPricesAreSetFromTomorrowOn", map[string]string{"billing rates apply options_test.go --dry-run --yes": "can't be used together"}},
		"billing rates apply --yes":     {"billing rates apply options_test.go --yes", "cmd/operate/rates_test.go TestPricesAreSetFromTomorrowOn", map[string]string{"billing rates apply options_test.go --dry-run --yes": "can't be used together"}},

		"billing export --from":         {export, costs, map[string]string{"billing export --from x --to 2026-01-02 --out x": "2006-01-02"}},
		"billing export --to":           {export, costs, map[string]string{"billing export --from 2026-01-03 --to 2026-01-02 --out x": "--to is before --from"}},
		"billing export --account":      {export + "--account a", costs, nil},
		"billing export --format":       {export + "--format parquet", costs, map[string]string{export + "--format xml": "must be one of"}},
		"billing export --out":          {export, costs, map[string]string{"billing export --from 2026-01-01 --to 2026-01-02": "missing flags: --out"}},
		"billing export --credit-price": {export + "--credit-price 2", costs, nil},

		"engine run <receipt>":    {"engine run options_test.go --files .", "cmd/service/receipt_test.go TestReceipts", map[string]string{"engine run none --files .": "no such file"}},
		"engine run --files":      {"engine run options_test.go --files .", "cmd/service/receipt_test.go TestReceipts", map[string]string{"engine run options_test.go": "missing flags: --files"}},
		"engine run --out":        {"engine run options_test.go --files . --out x", "runs/execution/reproduce_test.go TestReproduces", nil},
		"engine run --any-engine": {"engine run options_test.go --files . --any-engine", "runs/execution/reproduce_test.go TestDoesNotReproduce", nil},

		"engine serve --listen":      {serve + "--listen 127.0.0.1:0", "cmd/service/remote_engine_test.go TestRemoteEngine", nil},
		"engine serve --token":       {serve, "runs/execution/host/host_test.go TestRefusesOrders", map[string]string{"engine serve --data d": "NETSIM_ENGINE_TOKEN is not set"}},
		"engine serve --token-file":  {"engine serve --data d --token-file options_test.go", "cmd/netsim/options_test.go TestEveryOptionIsHonouredOrRefused", map[string]string{serve + "--token-file options_test.go": "are both set", "engine serve --data d --token-file none": "no such file"}},
		"engine serve --data":        {serve, "runs/execution/host/killed_test.go TestRestarts", map[string]string{"engine serve --token t": "missing flags: --data"}},
		"engine serve --runs":        {serve + "--runs 1", engines + "TestBusy", map[string]string{serve + "--runs 0": above}},
		"engine serve --kept":        {serve + "--kept 1", engines + "TestKept", map[string]string{serve + "--kept 0": above}},
		"engine serve --kept-for":    {serve + "--kept-for 1h", engines + "TestKept", map[string]string{serve + "--kept-for 0s": above}},
		"engine serve --order-bytes": {serve + "--order-bytes 1", engines + "TestRefusesOrders", map[string]string{serve + "--order-bytes=-1": above}},
		"engine serve --run-bytes":   {serve + "--run-bytes 1", engines + "TestInputsThatDoNotCome", map[string]string{serve + "--run-bytes 0": above}},
		"engine serve --total-bytes": {serve + "--total-bytes 1", engines + "TestInputsThatDoNotCome", map[string]string{serve + "--total-bytes 0": above}},
		"engine serve --within":      {serve + "--within 1s", engines + "TestTooLong", map[string]string{serve + "--within 0s": above}},
		"engine serve --max-flows":   {serve + "--max-flows 0", engines + "TestRefusesOrders", map[string]string{serve + "--max-flows=-1": above}},

		"audit key --make":         {"audit key --make x", "cmd/netsim/options_test.go TestKeyByCommand", nil},
		"audit key --name":         {"audit key --make x --name n", "cmd/netsim/options_test.go TestKeyByCommand", map[string]string{"audit key --name n": "give --make too"}},
		"audit key --succeed":      {"audit key --succeed x", "internal/faults/succession_test.go TestTheAuditKeyIsSucceeded", map[string]string{"audit key --succeed x --make y": "make that first"}},
		"audit checkpoint --name":  {"audit checkpoint --name n", audits, nil},
		"audit heads --checkpoint": {"audit heads --checkpoint n", joined, nil},
		"audit heads --dir":        {"audit heads --dir d", joined, nil},
		"audit heads --key":        {"audit heads --key k", joined, nil},
		"audit verify --from-checkpoint": {"audit verify --from-checkpoint " + fixtures + "held.note", joined, map[string]string{
			b + "--from-checkpoint " + fixtures + "held.note": "a bundle is always verified whole", "audit verify --from-checkpoint none": "no such file"}},
		"audit verify --heads": {"audit verify --from-checkpoint " + fixtures + "held.note --heads .", joined, map[string]string{
			"audit verify --heads .": "name it with --from-checkpoint", "audit verify --from-checkpoint " + fixtures + "held.note --heads none": "no such file"}},
		"audit verify <bundle>":      {b, bundles, nil},
		"audit verify --key":         {b + "--key k", bundles, nil},
		"audit verify --log-only":    {"audit verify --log-only", start, map[string]string{b + "--log-only": "--log-only is about the log"}},
		"audit verify --note":        {b + "--note " + fixtures + "held.note", bundles, map[string]string{b + "--note none": "no such file"}},
		"audit verify --no-note":     {b + "--no-note", bundles, map[string]string{b + "--no-note --note " + fixtures + "held.note": "leave out --note", "audit verify --no-note --from-checkpoint " + fixtures + "held.note": "leave out --note"}},
		"audit verify --strict":      {b + "--strict", bundles, nil},
		"audit verify --account":     {b + "--account acct_00000000000000000000000001", bundles, map[string]string{"audit verify --account a": bundle, b + "--account a": "is not an account id"}},
		"audit verify --from":        {b + "--from 2026-11-02", bundles, map[string]string{"audit verify --from 2026-11-02": bundle, b + "--from yesterday": "is not a date"}},
		"audit verify --to":          {b + "--to 2026-11-04", bundles, map[string]string{"audit verify --to 2026-11-04": bundle, b + "--from 2026-11-04 --to 2026-11-03": "is before from"}},
		"audit verify --preliminary": {b + "--preliminary", bundles, map[string]string{"audit verify --preliminary": bundle}},
		"audit replay --log-only":    {"audit replay --log-only", start, nil},

		"audit bundle --account":     {"audit bundle --account a --from 2026-11-02 --to 2026-11-02", audits, map[string]string{"audit bundle --from 2026-11-02 --to 2026-11-02": "missing flags: --account"}},
		"audit bundle --from":        {"audit bundle --account a --from 2026-11-02 --to 2026-11-02", audits, map[string]string{"audit bundle --account a --to 2026-11-02": "missing flags: --from"}},
		"audit bundle --to":          {"audit bundle --account a --from 2026-11-02 --to 2026-11-02", audits, map[string]string{"audit bundle --account a --from 2026-11-02": "missing flags: --to"}},
		"audit bundle --preliminary": {"audit bundle --account a --from 2026-11-02 --to 2026-11-02 --preliminary", "audit/fixture_test.go TestAPreliminaryBundle", nil},
	}
}

// TestEveryOptionIsHonouredOrRefused checks that optionRows has every option of every
// command, that the command lines are accepted or refused as listed, and that the
// tests exist.
func TestEveryOptionIsHonouredOrRefused(t *testing.T) {
	t.Parallel()
	rows := optionRows()
	for _, more := range []map[string]option{eventOptionRows(), logOptionRows(), examinationOptionRows(), exchangeOptionRows()} {
		maps.Copy(rows, more)
	}
	parser, err := kong.New(&commands{}, kong.Name("netsim"))
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, leaf := range operatorsCommands(parser) {
		command := strings.TrimPrefix(strings.SplitN(leaf.FullPath(), " <", 2)[0], "netsim ")
		for _, p := range leaf.Positional {
			there[command+" <"+p.Name+">"] = true
		}
		for _, group := range leaf.AllFlags(true) {
			for _, f := range group {
				if f.Name == "help" {
					continue
				}
				there[command+" --"+f.Name] = true
			}
		}
	}
	for name := range there {
		if _, is := rows[name]; !is {
			t.Errorf("%s has no row in optionRows: add an accepted command line, refused ones, and the test of its effect", name)
		}
	}
	for name, row := range rows {
		if !there[name] {
			t.Errorf("%s has a row but is not an option", name)
		}
		if err := parse(row.line); err != nil {
			t.Errorf("netsim %s: %v", row.line, err)
		}
		for line, want := range row.refused {
			if err := parse(line); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("netsim %s: %v; want %q", line, err, want)
			}
		}
		file, function, _ := strings.Cut(row.seen, " ")
		if text, err := os.ReadFile(filepath.Join("..", "..", file)); err != nil || !strings.Contains(string(text), "\nfunc "+function+"(") {
			t.Errorf("%s: the test %s does not exist (%v)", name, row.seen, err)
		}
	}
}

func parse(line string) error {
	var c commands
	parser, err := kong.New(&c, kong.Name("netsim"), kong.Exit(func(int) {}), kong.BindTo(context.Background(), (*context.Context)(nil)))
	if err == nil {
		_, err = parser.Parse(strings.Fields(line))
	}
	return err
}

// TestTokenByCommand: every option except --data sets a claim of the token.
func TestTokenByCommand(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if err := os.Mkdir(filepath.Join(data, "issuer"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "issuer", "url"), []byte("http://issuer"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := devissuer.Mint(data, devissuer.Options{}, time.Now()); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"--service": `"token_use":"service"`, "--user ada": `"sub":"ada"`, "--account a": `"account_id":"a"`,
		"--service --account *": `"account_id":"*"`, "--workspaces a,b": `"workspaces":["a","b"]`,
		"--role billing --role operator": `"roles":["billing","operator"]`,
	} {
		out, said, code := netsim(t, append([]string{"token", "--data", data}, strings.Fields(line)...)...)
		if claims := claimsOf(t, out); code != 0 || !strings.Contains(claims, want) {
			t.Errorf("token %s: got claims %s, %s; want %s", line, claims, said, want)
		}
	}
	out, _, _ := netsim(t, "token", "--data", data, "--ttl", "90s")
	var from, until int64
	claims := claimsOf(t, out)
	_, _ = fmt.Sscanf(claims[strings.Index(claims, `"exp"`):], `"exp":%d`, &until)
	_, _ = fmt.Sscanf(claims[strings.Index(claims, `"iat"`):], `"iat":%d`, &from)
	if until-from != 90 {
		t.Errorf("--ttl 90s: got claims %s, want exp 90 s after iat", claims)
	}
}

// TestKeyByCommand: a new key has the given name, or the name netsim. An existing key
// file is never overwritten.
func TestKeyByCommand(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "key")
	if out, said, code := netsim(t, "audit", "key", "--make", file); code != 0 || !strings.HasPrefix(out, "netsim+") {
		t.Errorf("got %s%s, want a key with the name netsim", out, said)
	}
	if _, said, code := netsim(t, "audit", "key", "--make", file); code != 1 || !strings.Contains(said, "file exists") {
		t.Errorf("a key was overwritten: %s", said)
	}
	if out, said, code := netsim(t, "audit", "key", "--make", file+"2", "--name", "mine"); code != 0 || !strings.HasPrefix(out, "mine+") {
		t.Errorf("got %s%s, want a key with the name mine", out, said)
	}
}

// claimsOf returns the claims of a token as JSON.
func claimsOf(t *testing.T, token string) string {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("%q is not a token", token)
	}
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	return string(claims)
}
