package analysis_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"netsim/runs/studies/analysis"
)

// TestDocument: docs/studies/prices.md has the price list, figure by figure.
func TestDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/studies/prices.md")
	if err != nil {
		t.Fatal(err)
	}
	list := analysis.CurrentPrices()
	want := fmt.Sprintf("Version %s, in %s. %s\n\n", list.Version, list.Currency, list.Assumption)
	for _, kind := range []struct {
		name    string
		classes []analysis.PriceClass
	}{
		{"Switch, by the sum of its connected ports", list.Switches}, {"NIC, by its rate", list.NICs},
		{"Copper cable between a NIC and a switch", list.Copper}, {"Optical link between switches, with both transceivers and the fibre", list.Optical},
		{"Server without its NICs, by the sum of their rates", list.Servers},
	} {
		want += "| " + kind.name + " | " + list.Currency + " | W |\n| --- | ---: | ---: |\n"
		for _, c := range kind.classes {
			want += fmt.Sprintf("| up to %d Gb/s | %s | %s |\n", c.Gbps, c.Price, c.Watts)
		}
		want += "\n"
	}
	if !strings.Contains(string(text), strings.TrimSpace(want)) {
		t.Errorf("docs/studies/prices.md does not have this:\n%s", want)
	}
}
