package settings

import (
	gocmp "cmp"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// required returns the required settings with valid values.
func required() map[string]string {
	return map[string]string{
		"NETSIM_KAFKA": "broker:9092", "NETSIM_POSTGRES": "postgres://netsim:hidden-1@database/netsim",
		"NETSIM_S3_ENDPOINT": "https://store", "NETSIM_S3_ACCESS_KEY": "hidden-2", "NETSIM_S3_SECRET_KEY": "hidden-3",
		"NETSIM_OIDC_ISSUER": "https://issuer/", "NETSIM_OIDC_JWKS_URL": "https://issuer/keys", "NETSIM_ENGINE_TOKEN": "hidden-4", "OTEL_EXPORTER_OTLP_HEADERS": "api-key=hidden-6",
		"NETSIM_WRITER_KEYS": strings.Repeat("5e", 32), "NETSIM_SCHEMA_REGISTRY_SECRET": "hidden-7",
	}
}

func with(environment map[string]string, name, value string) map[string]string {
	environment[name] = value
	return environment
}

// wrong returns the error text of the required settings changed by more, or "". It fails
// the test when the text has a secret.
func wrong(t *testing.T, more map[string]string) string {
	t.Helper()
	environment := required()
	maps.Copy(environment, more)
	_, err := FromVariables(environment)
	if err == nil {
		return ""
	}
	if strings.Contains(err.Error(), "hidden") {
		t.Errorf("a secret is in %q", err)
	}
	return err.Error()
}

// TestEverySettingIsChecked: the error of every wrong setting names the setting, its
// value and what it must be.
func TestEverySettingIsChecked(t *testing.T) {
	t.Parallel()
	if _, err := FromVariables(required()); err != nil {
		t.Fatal(err)
	}
	for _, f := range settingFields[Config]() {
		name := variable(f)
		bad := map[string]bool{}
		switch {
		case f.Tag.Get("secret") != "" && f.Tag.Get("form") != "":
			bad["hidden-5 is = not : right"] = true
		case f.Tag.Get("form") != "":
			bad["not a right one"] = true
		case f.Type.Kind() == reflect.Bool, isNumber(f):
			bad["nonsense"] = true
		}
		if least, _, duration := bounds(f); isNumber(f) && f.Tag.Get("form") == "" {
			bad["-2"] = !duration
			bad["-1s"] = duration
			bad["0"] = least > 0
			bad["99999999999999999999"] = true
			if most := f.Tag.Get("max"); most != "" {
				bad[most+"0"] = true
			}
		}
		for value, refused := range bad {
			if !refused {
				continue
			}
			said := wrong(t, map[string]string{name: value})
			shown := `"` + value + `"`
			if f.Tag.Get("secret") != "" {
				shown = `"(not shown)"`
			}
			if want := name + " is " + shown + ": it must be "; !strings.Contains(said, want) || strings.Count(said, "\n") != 1 {
				t.Errorf("%s=%s gives the error %q, want one line with %q", name, value, said, want)
			}
		}
		if _, needed := required()[name]; needed && name != "NETSIM_ENGINE_TOKEN" && !strings.HasPrefix(name, "NETSIM_S3_ACCESS") && !strings.HasPrefix(name, "NETSIM_S3_SECRET") && name != "NETSIM_SCHEMA_REGISTRY_SECRET" && name != "OTEL_EXPORTER_OTLP_HEADERS" {
			if said := wrong(t, map[string]string{name: ""}); !strings.Contains(said, name+" is not set: it must be ") {
				t.Errorf("without %s the error is %q, want that it is not set", name, said)
			}
		}
		for _, tag := range []string{"min", "max", "envDefault"} {
			text := f.Tag.Get(tag)
			if _, bad := read[Config](with(required(), name, text)); text != "" && bad.has(name) {
				t.Errorf("%s=%s, its %s, is refused: %v", name, text, tag, bad.err())
			}
			if !isNumber(f) || f.Tag.Get("form") != "" {
				continue
			}
			_, notANumber := strconv.ParseInt(text, 10, 64)
			if _, err := time.ParseDuration(text); text != "" && err != nil && notANumber != nil {
				t.Errorf("%s has the malformed tag %s:%q", name, tag, text)
			}
		}
	}
}

// TestSettingsThatDoNotGoTogether: combinations of settings are refused although each
// setting alone is valid.
func TestSettingsThatDoNotGoTogether(t *testing.T) {
	t.Parallel()
	for want, more := range map[string]map[string]string{
		`NETSIM_HTTP and NETSIM_OPS are both "host:1"`:                           {"NETSIM_HTTP": "host:1", "NETSIM_OPS": "host:1"},
		`NETSIM_REPLICATION is "2": it must be at least 3`:                       {"NETSIM_REPLICATION": "2"},
		`NETSIM_REPLICATION is "-1": it must be at least 3`:                      {"NETSIM_REPLICATION": "-1"},
		`NETSIM_ENGINE_PATIENCE is "1s": it must be at least NETSIM_ENGINE_POLL`: {"NETSIM_ENGINE_PATIENCE": "1s"},
		`NETSIM_TOPIC_PREFIX is "x.public.": it must not end in public.`:         {"NETSIM_TOPIC_PREFIX": "x.public."},
		`NETSIM_ROLES is "api,worker": with NETSIM_READ_ONLY the roles must be among api and projector`: {
			"NETSIM_READ_ONLY": "true", "NETSIM_ROLES": "api,worker",
		},
		`NETSIM_PRIMARY_URL is "https://netsim.example": it must not be set without NETSIM_READ_ONLY`: {"NETSIM_PRIMARY_URL": "https://netsim.example"},
		`NETSIM_KAFKA is "broker": it must be a list`:                                                 {"NETSIM_KAFKA": "broker"},
		`NETSIM_SCHEMA_REGISTRY_USER is "netsim": it must not be set without NETSIM_SCHEMA_REGISTRY_SECRET`: {
			"NETSIM_SCHEMA_REGISTRY_USER": "netsim", "NETSIM_SCHEMA_REGISTRY_SECRET": "",
		},
		`NETSIM_ENGINE_URLS is "http://engine": it must not be set without NETSIM_ENGINE_TOKEN`:          {"NETSIM_ENGINE_URLS": "http://engine", "NETSIM_ENGINE_TOKEN": ""},
		`NETSIM_KAFKA_TLS is not true: it must be`:                                                       {"NETSIM_KAFKA_SERVER_NAME": "kafka"},
		`one of NETSIM_KAFKA_CERT and NETSIM_KAFKA_KEY is set`:                                           {"NETSIM_KAFKA_TLS": "true", "NETSIM_KAFKA_KEY": "settings_test.go"},
		`NETSIM_KAFKA_SASL is not set: it must be`:                                                       {"NETSIM_KAFKA_PASSWORD": "hidden-8"},
		`NETSIM_KAFKA_SASL is "": it must be OAUTHBEARER`:                                                {"NETSIM_KAFKA_OAUTH_SCOPE": "x"},
		`NETSIM_KAFKA_USER and NETSIM_KAFKA_PASSWORD must be set`:                                        {"NETSIM_KAFKA_SASL": "SCRAM-SHA-512", "NETSIM_KAFKA_USER": "x"},
		`NETSIM_KAFKA_USER and NETSIM_KAFKA_PASSWORD must not be set`:                                    {"NETSIM_KAFKA_SASL": "OAUTHBEARER", "NETSIM_KAFKA_USER": "x"},
		`one of NETSIM_KAFKA_OAUTH_TOKEN_FILE and NETSIM_KAFKA_OAUTH_`:                                   {"NETSIM_KAFKA_SASL": "OAUTHBEARER"},
		`NETSIM_KAFKA_OAUTH_TOKEN_URL is set: `:                                                          {"NETSIM_KAFKA_SASL": "OAUTHBEARER", "NETSIM_KAFKA_OAUTH_TOKEN_URL": "https://issuer"},
		`NETSIM_KAFKA_TLS must be true, because it sends a secret`:                                       {"NETSIM_KAFKA_SASL": "PLAIN", "NETSIM_KAFKA_USER": "x", "NETSIM_KAFKA_PASSWORD": "hidden-8"},
		`one of NETSIM_S3_ACCESS_KEY and NETSIM_S3_SECRET_KEY is set`:                                    {"NETSIM_S3_ACCESS_KEY": ""},
		`NETSIM_CONSOLE_URL is not set: with NETSIM_CONSOLE_CLIENT_ID it must be`:                        {"NETSIM_CONSOLE_CLIENT_ID": "x"},
		`NETSIM_CONSOLE_CLIENT_ID is not set: with NETSIM_CONSOLE_CLIENT_SECRET it must be`:              {"NETSIM_CONSOLE_URL": "https://x", "NETSIM_CONSOLE_CLIENT_SECRET": "hidden-9"},
		`NETSIM_CONSOLE_CLIENT_ID is not set: with NETSIM_CONSOLE_PARAMETERS it must be`:                 {"NETSIM_CONSOLE_PARAMETERS": "a=b"},
		`NETSIM_CONSOLE_CLIENT_ID is not set: with NETSIM_CONSOLE_DISCOVERY_URL it must be`:              {"NETSIM_CONSOLE_DISCOVERY_URL": "https://x"},
		`NETSIM_CONSOLE_URL is "https://x/a/../b": with NETSIM_CONSOLE_CLIENT_ID it must have a plain p`: console("NETSIM_CONSOLE_URL", "https://x/a/../b"),
		`NETSIM_CONSOLE_URL is "https://x?y": with NETSIM_CONSOLE_CLIENT_ID it must have a plain path`:   console("NETSIM_CONSOLE_URL", "https://x?y"),
		`NETSIM_CONSOLE_SCOPES is "profile": it must contain openid`:                                     console("NETSIM_CONSOLE_SCOPES", "profile"),
		`NETSIM_CONSOLE_SESSION_IDLE is "24h0m0s": it must be at most NETSIM_CONSOLE_SESSION_LIFE`:       console("NETSIM_CONSOLE_SESSION_LIFE", "1h"),
		`NETSIM_WRITER_KEYS is not set: with NETSIM_CONSOLE_CLIENT_ID it must be a key`: {
			"NETSIM_DATA_DEV": "true", "NETSIM_REPLICATION": "", "NETSIM_OIDC_ISSUER": "http://issuer/", "NETSIM_S3_ENDPOINT": "http://store",
			"NETSIM_WRITER_KEYS": "", "NETSIM_CONSOLE_CLIENT_ID": "x", "NETSIM_CONSOLE_URL": "https://x",
		},
		`NETSIM_QUOTAS: `: {"NETSIM_QUOTAS": "streams.opne=1"},
		`NETSIM_DATA_DEV is true beside a setting of a production installation, NETSIM_OIDC_ISSUER=https://issuer/: `: {"NETSIM_DATA_DEV": "true"},
		`a production installation, NETSIM_REPLICATION=3: it must be false`:                                           development("NETSIM_REPLICATION", "3"),
		`a production installation, NETSIM_S3_ENDPOINT=https://store: it must be false`:                               development("NETSIM_S3_ENDPOINT", "https://store"),
		`a production installation, NETSIM_POSTGRES with TLS to database: it must be false`:                           development("NETSIM_POSTGRES", "postgres://netsim:hidden-1@database/netsim?sslmode=require"),
	} {
		if said := wrong(t, more); !strings.Contains(said, want) {
			t.Errorf("%v gives the error %q, want %q", more, said, want)
		}
	}
	for _, more := range []map[string]string{
		{"NETSIM_S3_ACCESS_KEY": "", "NETSIM_S3_SECRET_KEY": ""},
		{"NETSIM_CONSOLE_URL": "https://elsewhere"}, {"NETSIM_ROLES": "worker", "NETSIM_CONSOLE_CLIENT_SECRET": "hidden-9"}, console("NETSIM_CONSOLE_CLIENT_SECRET", "hidden-9"),
		{"NETSIM_KAFKA_SASL": "SCRAM-SHA-512", "NETSIM_KAFKA_USER": "x", "NETSIM_KAFKA_PASSWORD": "hidden-8"},
		{"NETSIM_REPLICATION": "1", "NETSIM_DATA_DEV": "true", "NETSIM_OIDC_ISSUER": "https://localhost/", "NETSIM_S3_ENDPOINT": "https://[::1]:9000"}, {"NETSIM_HTTP": "host:1", "NETSIM_OPS": "host:1", "NETSIM_ROLES": "worker"},
	} {
		if said := wrong(t, more); said != "" {
			t.Errorf("%v gives the error %q, want none", more, said)
		}
	}
}

// console returns the settings of a console, and one more.
func console(name, value string) map[string]string {
	return with(map[string]string{"NETSIM_CONSOLE_CLIENT_ID": "x", "NETSIM_CONSOLE_URL": "https://x/prefix"}, name, value)
}

// TestDashboards: the pages of simulations are in the console that is served, or in one that
// others serve.
func TestDashboards(t *testing.T) {
	t.Parallel()
	for want, more := range map[string]map[string]string{
		"":                         {},
		"https://elsewhere":        {"NETSIM_CONSOLE_URL": "https://elsewhere"},
		"https://x/prefix/console": console("NETSIM_CONSOLE_SESSIONS", "1"),
	} {
		environment := required()
		maps.Copy(environment, more)
		c, err := FromVariables(environment)
		if err != nil || c.Dashboards() != want {
			t.Errorf("%v: the pages of simulations are below %q, %v; want %q", more, c.Dashboards(), err, want)
		}
	}
}

// development returns the settings of a development installation, and one more.
func development(name, value string) map[string]string {
	more := map[string]string{
		"NETSIM_DATA_DEV": "true", "NETSIM_REPLICATION": "", "NETSIM_OIDC_ISSUER": "http://issuer/", "NETSIM_S3_ENDPOINT": "http://store",
	}
	more[name] = value
	return more
}

// TestAllWrongSettingsAreReportedAtOnce: values that cannot be read, missing ones,
// contradictions, wrong files and misspelt names are all in one error, a line each.
func TestAllWrongSettingsAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	said := wrong(t, map[string]string{
		"NETSIM_WORKERS": "many", "NETSIM_KAFKA": "", "NETSIM_TOPIC_PREFIX": "x.public.", "NETSIM_S3_SECRET_KEY_FILE": "/nowhere",
		"NETSIM_S3_SECRET_KEY": "", "NETSIM_ENGINE_POLL": "soon", "NETSIM_ENGINE_PATIENCE": "1ms", "NETSIM_PARTITONS": "4", "OTEL_BSP_UNKNOWN": "1",
		"NETSIM_LATER": "1",
	})
	lines := strings.Split(said, "\n")
	slices.Sort(lines)
	var begins []string
	for _, line := range lines {
		first, _, _ := strings.Cut(line, " ")
		begins = append(begins, first)
	}
	// ENGINE_PATIENCE is not compared with ENGINE_POLL, which cannot be read.
	want := []string{
		"NETSIM_ENGINE_POLL", "NETSIM_KAFKA", "NETSIM_PARTITONS", "NETSIM_S3_SECRET_KEY_FILE", "NETSIM_TOPIC_PREFIX", "NETSIM_WORKERS",
		"OTEL_BSP_UNKNOWN", "the",
	}
	if diff := cmp.Diff(want, begins); diff != "" {
		t.Errorf("reported settings (-want +got):\n%s\n%s", diff, said)
	}
}

// TestNamesThatAreNoSettings: a name that is nearly that of a setting is refused, with
// the right name. Other unknown names are logged once, those of Kubernetes and of tests
// not at all.
func TestNamesThatAreNoSettings(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"NETSIM_PARTITONS":        "NETSIM_PARTITONS is set: there is no such setting; it must be NETSIM_PARTITIONS",
		"NETSIM_WRITER_KESY":      "it must be NETSIM_WRITER_KEYS",
		"NETSIM_POSTGRES_FIEL":    "it must be NETSIM_POSTGRES_FILE",
		"NETSIM_KAFKA_FILE":       "NETSIM_KAFKA_FILE is set: only secrets can be in files, so it must be NETSIM_KAFKA",
		"NETSIM_LATER":            "",
		"NETSIM_SERVICE_HOST":     "",
		"NETSIM_PORT_8080_TCP":    "",
		"NETSIM_OPS_SERVICE_PORT": "",
		"NETSIM_TEST_LOG":         "",
	} {
		if said := wrong(t, map[string]string{name: "hidden"}); !strings.Contains(said, want) || (want == "") != (said == "") {
			t.Errorf("%s gives the error %q, want %q", name, said, want)
		}
	}
	environment := required()
	maps.Copy(environment, development("NETSIM_LATER", "hidden"))
	environment["NETSIM_PORT"] = "tcp://10.0.0.1:80"
	c, err := FromVariables(environment)
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	c.Announce(t.Context(), slog.New(slog.NewTextHandler(&lines, nil)))
	for _, want := range []string{"development mode", "variables=[NETSIM_LATER]"} {
		if strings.Count(lines.String(), want) != 1 || strings.Contains(lines.String(), "hidden") {
			t.Errorf("the log has %q, want %q once and no value", lines.String(), want)
		}
	}
}

func TestEditDistance(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[ABC]{0,8}`)
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		got := editDistance(a, b)
		if got != editDistance(b, a) || (got == 0) != (a == b) || got > max(len(a), len(b)) || got < max(len(a)-len(b), len(b)-len(a)) {
			t.Fatalf("the distance of %q and %q is %d", a, b, got)
		}
	})
	for pair, want := range map[[2]string]int{{"ABC", "ACB"}: 1, {"ABC", "AC"}: 1, {"ABC", "ABXC"}: 1, {"ABC", "AXC"}: 1, {"ABC", "CXA"}: 3} {
		if got := editDistance(pair[0], pair[1]); got != want {
			t.Errorf("the distance of %q is %d, want %d", pair, got, want)
		}
	}
}

// TestSecretsFromFiles: every secret can be read from a file instead of its variable. A
// secret in both is refused.
func TestSecretsFromFiles(t *testing.T) {
	t.Parallel()
	secrets := 0
	for _, f := range settingFields[Config]() {
		if f.Tag.Get("secret") == "" {
			continue
		}
		secrets++
		name, folder := variable(f), t.TempDir()
		write := func(file, text string) string {
			path := filepath.Join(folder, file)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
		writable := write("writable", "x")
		if err := os.Chmod(writable, 0o622); err != nil {
			t.Fatal(err)
		}
		secret := gocmp.Or(required()[name], "hidden-8")
		switch f.Tag.Get("form") {
		case "standbys":
			secret = required()["NETSIM_POSTGRES"]
		case "webhookKeys":
			secret = "a:" + strings.Repeat("A", 43) + "="
		}
		environment := with(with(required(), name, ""), name+"_FILE", write("secret", secret+"\r\n"))
		c, bad := read[Config](environment)
		if got := reflect.ValueOf(c).FieldByIndex(f.Index).String(); bad.has(name) || got != secret {
			t.Errorf("%s was not read from its file: %v", name, bad.err())
		}
		for want, more := range map[string]map[string]string{
			name + " and " + name + "_FILE are both set": {name: secret, name + "_FILE": environment[name+"_FILE"]},
			name + `_FILE is "/nowhere": it must be a`:   {name: "", name + "_FILE": "/nowhere"},
			"the file is empty":                          {name: "", name + "_FILE": write("empty", "\n")},
			"it has more than 64 KiB":                    {name: "", name + "_FILE": write("large", strings.Repeat("x", maxSecret+1))},
			"it is not text in UTF-8":                    {name: "", name + "_FILE": write("binary", "\xff\xfe")},
			"it is a directory":                          {name: "", name + "_FILE": folder},
			"every user may write it (mode 0622)":        {name: "", name + "_FILE": writable},
		} {
			if said := wrong(t, more); !strings.Contains(said, want) {
				t.Errorf("%v gives the error %q, want %q", more, said, want)
			}
		}
	}
	if secrets < 4 {
		t.Errorf("%d settings are secret, want at least 4", secrets)
	}
}
