package service

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
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

// wrong returns the error text of the required settings changed by more, or "". It fails
// the test when the text has a secret.
func wrong(t *testing.T, more map[string]string) string {
	t.Helper()
	environment := required()
	maps.Copy(environment, more)
	_, err := FromSettings(environment)
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
	if _, err := FromSettings(required()); err != nil {
		t.Fatal(err)
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
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
		if _, needed := required()[name]; needed && name != "NETSIM_ENGINE_TOKEN" && name != "NETSIM_SCHEMA_REGISTRY_SECRET" && name != "OTEL_EXPORTER_OTLP_HEADERS" {
			if said := wrong(t, map[string]string{name: ""}); !strings.Contains(said, name+" is not set: it must be ") {
				t.Errorf("without %s the error is %q, want that it is not set", name, said)
			}
		}
		for _, tag := range []string{"min", "max"} {
			text := f.Tag.Get(tag)
			if _, err := time.ParseDuration(text + map[bool]string{false: "s"}[f.Type == reflect.TypeFor[time.Duration]()]); text != "" && err != nil {
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
	} {
		if said := wrong(t, more); !strings.Contains(said, want) {
			t.Errorf("%v gives the error %q, want %q", more, said, want)
		}
	}
	for _, more := range []map[string]string{
		{"NETSIM_REPLICATION": "1", "NETSIM_DATA_DEV": "true"}, {"NETSIM_HTTP": "host:1", "NETSIM_OPS": "host:1", "NETSIM_ROLES": "worker"},
	} {
		if said := wrong(t, more); said != "" {
			t.Errorf("%v gives the error %q, want none", more, said)
		}
	}
}

// TestSecretsFromFiles: every secret can be read from a file instead of its variable. A
// secret in both is refused.
func TestSecretsFromFiles(t *testing.T) {
	t.Parallel()
	secrets := 0
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
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
		environment := required()
		environment[name], environment[name+"_FILE"] = "", write("secret", required()[name]+"\n")
		c, err := FromSettings(environment)
		if err != nil || reflect.ValueOf(c).FieldByIndex(f.Index).String() != required()[name] {
			t.Errorf("%s was not read from its file: %v", name, err)
		}
		for want, more := range map[string]map[string]string{
			name + " and " + name + "_FILE are both set": {name + "_FILE": environment[name+"_FILE"]},
			name + `_FILE is "/nowhere": it must be a`:   {name: "", name + "_FILE": "/nowhere"},
			"the file is empty":                          {name: "", name + "_FILE": write("empty", "\n")},
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
