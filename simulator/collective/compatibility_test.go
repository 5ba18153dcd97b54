package collective_test

import (
	"slices"
	"testing"

	"netsim/simulator/collective"
)

// TestEveryAlgorithmIsListed: an operation allows algorithms that are listed, the
// default among them, and a parameter names one of them only.
func TestEveryAlgorithmIsListed(t *testing.T) {
	t.Parallel()
	for _, o := range collective.Matrix() {
		if !slices.Contains(o.AllowedAlgorithms, o.DefaultAlgorithm) {
			t.Errorf("%s does not allow its default, %s", o.OperationType, o.DefaultAlgorithm)
		}
		for _, name := range o.AllowedAlgorithms {
			a := collective.AlgorithmNamed(name)
			if a.Name != name || collective.AlgorithmOfParameter(a.Parameter) != a {
				t.Errorf("algorithm %s of %s is listed as %+v", name, o.OperationType, a)
			}
		}
	}
}
