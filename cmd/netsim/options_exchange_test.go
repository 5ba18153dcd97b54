package main

// exchangeOptionRows returns the rows of optionRows for the commands that read the files of
// other tools.
func exchangeOptionRows() map[string]option {
	const (
		converted  = "cmd/netsim/convert_test.go TestConvert"
		convert    = "engine convert options_test.go "
		fabrics    = "cmd/netsim/fabric_test.go TestFabric"
		calibrated = "cmd/netsim/calibrate_test.go TestCalibrate"
	)
	return map[string]option{
		"engine calibrate <log>":    {"engine calibrate options_test.go", calibrated, map[string]string{"engine calibrate none": "no such file"}},
		"engine calibrate --mss":    {"engine calibrate options_test.go --mss 1", calibrated, map[string]string{"engine calibrate options_test.go --mss 0": "--mss must be at least 1"}},
		"engine calibrate --header": {"engine calibrate options_test.go --header 0", calibrated, map[string]string{"engine calibrate options_test.go --header=-1": "--header at least 0"}},
		"engine convert <workload>": {convert + "--out x", converted, map[string]string{"engine convert none --out x": "no such file"}},
		"engine convert --binary":   {convert + "--out x --binary", converted, nil},
		"engine convert --out":      {convert + "--out x", converted, map[string]string{convert: "missing flags: --out"}},
		"engine fabric <file>":      {"engine fabric options_test.go --to infragraph", fabrics, map[string]string{"engine fabric none --to infragraph": "no such file"}},
		"engine fabric --to":        {"engine fabric options_test.go --to configuration", fabrics, map[string]string{"engine fabric options_test.go": "missing flags: --to", "engine fabric options_test.go --to goal": "must be one of"}},
		"engine fabric --out":       {"engine fabric options_test.go --to infragraph --out x", fabrics, nil},
	}
}
