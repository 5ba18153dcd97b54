package collective_test

import (
	"slices"
	"testing"

	"netsim/simulator/collective"
)

// TestEveryAlgorithmIsListed: every operation allows its default, every allowed
// algorithm is in the list, and no two algorithms share a parameter value.
func TestEveryAlgorithmIsListed(t *testing.T) {
	t.Parallel()
	for _, o := range collective.Matrix() {
		if !slices.Contains(o.AllowedAlgorithms, o.DefaultAlgorithm) {
			t.Errorf("%s does not allow its default, %s", o.OperationType, o.DefaultAlgorithm)
		}
		for _, name := range o.AllowedAlgorithms {
			a := collective.AlgorithmNamed(name)
			if a.Name != name || collective.AlgorithmOfParameter(a.Parameter) != a {
				t.Errorf("algorithm %s of %s is listed as %+v, or its parameter value names another", name, o.OperationType, a)
			}
		}
	}
}
