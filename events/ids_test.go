package events

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

func TestEncodeIDIsTypeIDs(t *testing.T) {
	t.Parallel()
	// From the TypeID specification, valid.json.
	for id, want := range map[string]string{
		"00000000-0000-0000-0000-000000000000": "00000000000000000000000000",
		"00000000-0000-0000-0000-000000000001": "00000000000000000000000001",
		"00000000-0000-0000-0000-00000000000a": "0000000000000000000000000a",
		"00000000-0000-0000-0000-000000000010": "0000000000000000000000000g",
		"00000000-0000-0000-0000-000000000020": "00000000000000000000000010",
		"ffffffff-ffff-ffff-ffff-ffffffffffff": "7zzzzzzzzzzzzzzzzzzzzzzzzz",
		"01890a5d-ac96-774b-bcce-b302099a8057": "01h455vb4pex5vsknk084sn02q",
	} {
		if got := encodeID(uuid.MustParse(id)); got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
}

func TestValidID(t *testing.T) {
	t.Parallel()
	const digits = "01h455vb4pex5vsknk084sn02q"
	for s, want := range map[string]bool{
		"sim_" + digits:                       true,
		"sim_7zzzzzzzzzzzzzzzzzzzzzzzzz":      true,
		"sim_8zzzzzzzzzzzzzzzzzzzzzzzzz":      false, // more than 128 bits
		"ts_" + digits:                        false,
		"sim" + digits:                        false,
		"sim_" + digits[1:]:                   false,
		"sim_" + digits + "0":                 false,
		"sim_" + strings.ToUpper(digits):      false,
		"sim_" + "01h455vb4pex5vsknk084sn02l": false, // l, i, o and u are not digits
		"sim_" + "01h455vb4pex5vsknk084sn0 q": false,
		"SIM_" + digits:                       false,
		"":                                    false,
		"sim_":                                false,
	} {
		if got := ValidID(SimulationPrefix, s); got != want {
			t.Errorf("ValidID of %q is %t, want %t", s, got, want)
		}
	}
	for _, id := range []string{DefaultWorkspace, TemplateWorkspace, TracesetWorkspace} {
		if !ValidID(WorkspacePrefix, id) || !BuiltIn(id) {
			t.Errorf("the built-in workspace %s is not valid", id)
		}
	}
}

func TestNewIDsAreValidAndOrdered(t *testing.T) {
	t.Parallel()
	last := ""
	for range 1000 {
		id := NewID(SimulationPrefix)
		if !ValidID(SimulationPrefix, id) || id <= last || BuiltIn(id) {
			t.Fatalf("id %s after %s, want a valid and larger one", id, last)
		}
		last = id
	}
}

func TestDerivedIDsDependOnEveryPart(t *testing.T) {
	t.Parallel()
	// This value must not change, because the log has derived identifiers. It was
	// computed independently, in Python.
	if got, want := DerivedID("sim", "workspace_a", "key-1"), "sim_4649axsbtzgdk8tjj5r0zgv49c"; got != want {
		t.Errorf("DerivedID returns %s, want %s", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.String(), 0, 4)
		a, b := parts.Draw(t, "a"), parts.Draw(t, "b")
		same := strings.Join(a, "\xff") == strings.Join(b, "\xff") && len(a) == len(b)
		x, y := DerivedID(SimulationPrefix, a...), DerivedID(SimulationPrefix, b...)
		if (x == y) != same || !ValidID(SimulationPrefix, x) {
			t.Fatalf("%q gives %s, %q gives %s", a, x, b, y)
		}
		id := DerivedUUID(a...)
		if id.Version() != 8 || id.Variant() != uuid.RFC4122 {
			t.Fatalf("UUID %s has version %d, want 8", id, id.Version())
		}
	})
}
