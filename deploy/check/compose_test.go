// Package check has the tests of what deploys the service that need libraries of the tools.
package check

import (
	"slices"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
)

// TestComposeFile: Docker Compose's own parser takes the file, which fits its schema. The
// processes of netsim run without rights, and with a read-only root file system.
func TestComposeFile(t *testing.T) {
	t.Parallel()
	options, err := cli.NewProjectOptions([]string{"../compose/compose.yaml"},
		cli.WithConsistency(true), cli.WithInterpolation(true), cli.WithoutEnvironmentResolution)
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	processes := 0
	for name, s := range project.Services {
		if s.Image != "netsim" {
			continue
		}
		processes++
		if !s.ReadOnly || s.User != "65532:65532" || s.Privileged || !slices.Equal(s.CapDrop, []string{"ALL"}) ||
			!slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
			t.Errorf("%s has rights that it does not need: %+v", name, s)
		}
	}
	if processes != 7 {
		t.Errorf("%d services run netsim, want 7: one for each role, and migrate", processes)
	}
}
