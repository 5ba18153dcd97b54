package main

import (
	"os"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestDataContractIsComplete: every event type is an object of its topic, with the
// members of its schema; and amounts of money are numbers that are written as text.
func TestDataContractIsComplete(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(root + "/api/datacontract.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Schema []struct {
			Name         string
			PhysicalName string `yaml:"physicalName"`
			Properties   []struct {
				Name         string
				LogicalType  string `yaml:"logicalType"`
				PhysicalType string `yaml:"physicalType"`
				Required     bool
			}
		}
	}
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	types, err := read(root + "/events")
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Schema) != len(types)+1 || doc.Schema[0].Name != headersElement || len(doc.Schema[0].Properties) != len(attributes()) {
		t.Fatalf("%d objects, want the headers and %d types", len(doc.Schema), len(types))
	}
	amounts := 0
	for i, one := range types {
		object := doc.Schema[i+1]
		if want := "netsim.public." + string(one.Family); object.Name != one.Name || object.PhysicalName != want {
			t.Errorf("object %d is %s in %s, want %s in %s", i, object.Name, object.PhysicalName, one.Name, want)
		}
		if len(object.Properties) != len(one.Fields) {
			t.Errorf("%s has %d properties, want %d", one.Name, len(object.Properties), len(one.Fields))
			continue
		}
		for j, f := range one.Fields {
			p := object.Properties[j]
			if p.Name != f.Name || p.Required == f.Optional || p.LogicalType == "" || p.PhysicalType == "" {
				t.Errorf("%s: property %+v of the field %s, optional %t", one.Name, p, f.Name, f.Optional)
			}
			if money := f.Name == "amount" || f.Name == "previousAmount" || f.Name == "cost" || f.Name == "rateAmount" || f.Name == "previousCost" || f.Name == "dayPrice"; money {
				amounts++
				if p.LogicalType != "number" || p.PhysicalType != "string" {
					t.Errorf("%s.%s is %s as %s, want a number as string", one.Name, f.Name, p.LogicalType, p.PhysicalType)
				}
			}
		}
	}
	if amounts < 8 {
		t.Errorf("only %d amounts of money", amounts)
	}
}
