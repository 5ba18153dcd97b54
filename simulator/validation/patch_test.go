package validation_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/simulator/catalogue"
	"netsim/simulator/document"
	"netsim/simulator/validation"
)

// defaults returns the default parameters of a model, and its schema.
func defaults(model string) (document.Params, []catalogue.Parameter) {
	entry, _ := catalogue.Find(model)
	p := document.Params{}
	catalogue.Fill(p, entry.Parameters)
	return p, entry.Parameters
}

func text(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestPatch(t *testing.T) {
	t.Parallel()
	stored, schema := defaults("clos-switch-v1")
	before := text(t, stored)
	got, err := validation.Patch("p", stored, []byte(`{
		"NumUpLinks": {"value": 3, "type": "uint"},
		"LoadBalancingMethod": {"value": "spray", "type": "string", "unit": null},
		"LoadBalancingFlowlet": {"Gap": {"value": 9, "type": "timeval", "unit": "s"}},
		"NetworkInterface": {"TransmissionMedium": {"Delay": {"value": 2, "type": "timeval", "unit": "us"}}}}`), schema)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := defaults("clos-switch-v1")
	want["NumUpLinks"].Value = 3.0
	want["LoadBalancingMethod"].Value = "spray"
	*want["LoadBalancingFlowlet"].Branch["Gap"].Leaf = document.Leaf{Value: 9.0, Type: "timeval", Unit: "s"} // beyond its maximum
	*want["NetworkInterface"].Branch["TransmissionMedium"].Branch["Delay"].Leaf = document.Leaf{Value: 2.0, Type: "timeval", Unit: "us"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the patched tree (-want +got):\n%s", diff)
	}
	if after := text(t, stored); after != before {
		t.Errorf("the stored tree has changed to %s", after)
	}
}

func TestPatchRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ model, patch, want string }{
		"nothing":                           {"clos-switch-v1", `{}`, "p must name at least one parameter to change"},
		"no object":                         {"clos-switch-v1", `[]`, "p must be an object"},
		"null":                              {"clos-switch-v1", `null`, "p must be an object"},
		"an empty section":                  {"clos-switch-v1", `{"NetworkInterface": {}}`, "p.NetworkInterface must name at least one parameter to change"},
		"an unknown parameter":              {"clos-switch-v1", `{"Other": {"value": 1, "type": "uint"}}`, "p.Other does not exist"},
		"an unknown parameter in a section": {"clos-switch-v1", `{"NetworkInterface": {"Other": {"value": 1, "type": "uint"}}}`, "p.NetworkInterface.Other does not exist"},
		"a path as key":                     {"clos-switch-v1", `{"LoadBalancingFlowlet.Gap": {"value": 1, "type": "timeval", "unit": "s"}}`, "p.LoadBalancingFlowlet.Gap does not exist"},
		"a number":                          {"clos-switch-v1", `{"NumUpLinks": 3}`, "p.NumUpLinks must be an object"},
		"a section for a parameter": {"clos-switch-v1", `{"NumUpLinks": {"Other": {"value": 1, "type": "uint"}}}`,
			"p.NumUpLinks is a parameter, not a section: it needs a value and the type 'uint'"},
		"a parameter for a section": {"clos-switch-v1", `{"NetworkInterface": {"value": 1, "type": "uint"}}`,
			"p.NetworkInterface is a section of parameters, not a parameter"},
		"no type":                               {"clos-switch-v1", `{"NumUpLinks": {"value": 3}}`, "p.NumUpLinks.type is missing, it must be 'uint'"},
		"no value":                              {"clos-switch-v1", `{"NumUpLinks": {"type": "uint"}}`, "p.NumUpLinks.value is missing"},
		"another type":                          {"clos-switch-v1", `{"NumUpLinks": {"value": 3, "type": "double"}}`, `p.NumUpLinks.type must be 'uint' as it is stored, got "double"`},
		"a type that is no string":              {"clos-switch-v1", `{"NumUpLinks": {"value": 3, "type": 1}}`, `p.NumUpLinks.type must be 'uint' as it is stored, got 1`},
		"a value of another type":               {"clos-switch-v1", `{"NumUpLinks": {"value": "3", "type": "uint"}}`, `p.NumUpLinks.value must be that of a uint, got "3"`},
		"a null value":                          {"clos-switch-v1", `{"NumUpLinks": {"value": null, "type": "uint"}}`, `p.NumUpLinks.value must be that of a uint, got null`},
		"a fraction":                            {"clos-switch-v1", `{"NumUpLinks": {"value": 1.5, "type": "uint"}}`, "p.NumUpLinks.value must be that of a uint, got 1.5"},
		"2^53":                                  {"clos-switch-v1", `{"NumUpLinks": {"value": 9007199254740992, "type": "uint"}}`, "p.NumUpLinks.value must be that of a uint, got 9007199254740992"},
		"beyond a double":                       {"gpu-v1", `{"ComputeScale": {"value": 1e999, "type": "double"}}`, "p.ComputeScale.value 1e999 is too large"},
		"an unknown member":                     {"clos-switch-v1", `{"NumUpLinks": {"value": 3, "type": "uint", "min": 1}}`, "p.NumUpLinks.min is unknown"},
		"a read-only parameter":                 {"roce-nic-v1", `{"NumDownLinks": {"value": 1, "type": "uint"}}`, "p.NumDownLinks is read-only"},
		"one valid and one read-only parameter": {"roce-nic-v1", `{"Transport": {"MSS": {"value": 1, "type": "bytes", "unit": "B"}}, "NumDownLinks": {"value": 1, "type": "uint"}}`, "p.NumDownLinks is read-only"},
		"not in the enum": {"clos-switch-v1", `{"EcmpHashMethod": {"value": "md5", "type": "string"}}`,
			"p.EcmpHashMethod.value must be one of [crc32WithSalt, crc32, hashWithSalt, hash], got 'md5'"},
		"no unit": {"roce-nic-v1", `{"Transport": {"MSS": {"value": 1, "type": "bytes"}}}`, "p.Transport.MSS.unit is missing, it must be one of [B, KB, MB, GB, KiB, MiB]"},
		"a unit of another type": {"roce-nic-v1", `{"Transport": {"MSS": {"value": 1, "type": "bytes", "unit": "s"}}}`,
			"p.Transport.MSS.unit must be one of [B, KB, MB, GB, KiB, MiB], got 's'"},
		"an unwanted unit":         {"clos-switch-v1", `{"NumUpLinks": {"value": 3, "type": "uint", "unit": "B"}}`, "p.NumUpLinks.unit must not be given: a uint has none, got 'B'"},
		"a unit that is no string": {"clos-switch-v1", `{"NumUpLinks": {"value": 3, "type": "uint", "unit": 1}}`, "p.NumUpLinks.unit must be a string"},
		"more than an object":      {"clos-switch-v1", `{"NumUpLinks": {"value": 3, "type": "uint"}} {}`, "p must be an object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stored, schema := defaults(c.model)
			before := text(t, stored)
			got, err := validation.Patch("p", stored, []byte(c.patch), schema)
			if err == nil || err.Error() != c.want || got != nil {
				t.Errorf("got %v and error %v, want %s", got, err, c.want)
			}
			if after := text(t, stored); after != before {
				t.Errorf("the stored tree has changed to %s", after)
			}
		})
	}
}

// TestPatchRefusesCharacters: strings must not contain characters that are used for injection.
func TestPatchRefusesCharacters(t *testing.T) {
	t.Parallel()
	stored, schema := defaults("chakra-workload-v1")
	patched := func(value string) error {
		_, err := validation.Patch("p", stored, []byte(text(t, map[string]any{
			"ChakraConfiguration": map[string]any{"MappingFileName": map[string]any{"value": value, "type": "string"}},
		})), schema)
		return err
	}
	for _, r := range "[]{}()'\";$*?#~`|&<>\\\n\r" {
		if patched("a"+string(r)+"b") == nil {
			t.Errorf("%q is accepted", r)
		}
	}
	for _, value := range []string{"", "a b.txt", "ä/ö-ü_0,1:2@3%4+5=6!^"} {
		if err := patched(value); err != nil {
			t.Errorf("%q is refused: %v", value, err)
		}
	}
}

func TestPatchGlobals(t *testing.T) {
	t.Parallel()
	stored := document.Params{}
	catalogue.Fill(stored, catalogue.Globals())
	stored["ComputeConfiguration"] = document.Param{Branch: document.Params{"A": {Leaf: &document.Leaf{Value: 1.0, Type: "uint"}}}}
	for patch, want := range map[string]string{
		`{"SimulationParameters": {"RandomSeed": {"value": 5, "type": "uint"}}}`:             "",
		`{"EngineParameters": {"Engine": {"value": "remote", "type": "string"}}}`:            "",
		`{"EngineParameters": {"Engine": {"value": "other", "type": "string"}}}`:             "p.EngineParameters.Engine.value must be one of [builtin, remote], got 'other'",
		`{"SoftwareVersion": {"Version": {"value": "2.0.0", "type": "string"}}}`:             "p.SoftwareVersion.Version is read-only",
		`{"ComputeConfiguration": {"A": {"value": 2, "type": "uint"}}}`:                      "p.ComputeConfiguration is set by the service",
		`{"ParallelizationParameters": {"A": {"value": 2, "type": "uint"}}}`:                 "p.ParallelizationParameters is set by the service",
		`{"Other": {"A": {"value": 2, "type": "uint"}}}`:                                     "p.Other does not exist",
		`{"SimulationParameters": {"Mtu": {"value": -1, "type": "bytes", "unit": "B"}}}`:     "",
		`{"SimulationParameters": {"RandomSeed": {"value": -1, "type": "uint"}}}`:            "p.SimulationParameters.RandomSeed.value must be that of a uint, got -1",
		`{"SimulationParameters": {"RandomSeed": {"value": 5, "type": "uint", "unit": ""}}}`: "",
	} {
		got := ""
		if _, err := validation.PatchGlobals("p", stored, []byte(patch)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: error %q, want %q", patch, got, want)
		}
	}
}

// TestPatchWithItself: a patch with the stored values of parameters that are not
// read-only is accepted and changes nothing.
func TestPatchWithItself(t *testing.T) {
	t.Parallel()
	entries := catalogue.Entries()
	rapid.Check(t, func(t *rapid.T) {
		entry := rapid.SampledFrom(entries).Draw(t, "model")
		stored, schema := defaults(entry.Model)
		patch := document.Params{}
		for _, p := range schema {
			if !p.ReadOnly && rapid.Bool().Draw(t, p.Path) {
				catalogue.Fill(patch, []catalogue.Parameter{p})
			}
		}
		body, err := json.Marshal(patch)
		if err != nil {
			t.Fatal(err)
		}
		got, err := validation.Patch("p", stored, body, schema)
		if len(patch) == 0 {
			if err == nil {
				t.Fatal("an empty patch is accepted")
			}
			return
		}
		if diff := cmp.Diff(stored, got); err != nil || diff != "" {
			t.Errorf("patch %s: error %v (-stored +patched):\n%s", body, err, diff)
		}
	})
}
