package main

// exchangeOptionRows returns the rows of optionRows for the commands that read the files of
// other tools.
func exchangeOptionRows() map[string]option {
	const (
		converted = "cmd/netsim/convert_test.go TestConvert"
		convert   = "engine convert options_test.go "
		fabrics   = "cmd/netsim/fabric_test.go TestFabric"
	)
	return map[string]option{
		"engine calibrate <log>":    {"engine calibrate options_test.go", "cmd/netsim/calibrate_test.go TestCalibrate", map[string]string{"engine calibrate none": "no such file"}},
		"engine convert <workload>": {convert + "--out x", converted, map[string]string{"engine convert none --out x": "no such file"}},
		"engine convert --binary":   {convert + "--out x --binary", converted, nil},
		"engine convert --out":      {convert + "--out x", converted, map[string]string{convert: "missing flags: --out"}},
		"engine fabric <file>":      {"engine fabric options_test.go --to infragraph", fabrics, map[string]string{"engine fabric none --to infragraph": "no such file"}},
		"engine fabric --to":        {"engine fabric options_test.go --to configuration", fabrics, map[string]string{"engine fabric options_test.go": "missing flags: --to", "engine fabric options_test.go --to goal": "must be one of"}},
		"engine fabric --out":       {"engine fabric options_test.go --to infragraph --out x", fabrics, nil},
	}
}
