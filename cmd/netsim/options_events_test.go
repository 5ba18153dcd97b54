package main

// eventOptionRows returns the rows of optionRows for the commands that export and follow
// facts.
func eventOptionRows() map[string]option {
	const (
		written = "cmd/netsim/events_test.go TestExportByCommand"
		tailed  = "cmd/netsim/events_test.go TestTailByCommand"
		exports = "events export --to x "
		above   = "must be above zero"
	)
	return map[string]option{
		"events export --family":       {exports + "--family billing,simulations", written, nil},
		"events export --type":         {exports + "--type netsim.workspace.created.v1", written, nil},
		"events export --stream":       {exports + "--stream s", written, nil},
		"events export --workspace":    {exports + "--workspace w", written, nil},
		"events export --account":      {exports + "--account a", written, nil},
		"events export --from-time":    {exports + "--from-time 2026-11-01T00:00:00Z", written, map[string]string{exports + "--from-time yesterday": "2006-01-02"}},
		"events export --to-time":      {exports + "--to-time 2026-11-01T00:00:00Z", written, map[string]string{exports + "--from-time 2026-11-02T00:00:00Z --to-time 2026-11-02T00:00:00Z": "--to-time must be after --from-time"}},
		"events export --format":       {exports + "--format ndjson", written, map[string]string{exports + "--format xml": "must be one of"}},
		"events export --to":           {exports, written, map[string]string{"events export": "missing flags: --to"}},
		"events export --file-bytes":   {exports + "--file-bytes 1", written, map[string]string{exports + "--file-bytes 0": above}},
		"events export --stall":        {exports + "--stall 1s", "stream/export/export_test.go TestTheReadModelIsBehind", map[string]string{exports + "--stall 0s": above}},
		"events verify <target>":       {"events verify x", "cmd/netsim/killed_test.go TestExportSurvivesKill", nil},
		"events tail --family":         {"events tail --family billing", tailed, nil},
		"events tail --type":           {"events tail --type netsim.workspace.created.v1", tailed, nil},
		"events tail --stream":         {"events tail --stream s", tailed, nil},
		"events tail --workspace":      {"events tail --workspace w", tailed, nil},
		"events tail --since":          {"events tail --since 10m", tailed, map[string]string{"events tail --since=-1s": above, "events tail --since 1m --from-beginning": "can't be used together"}},
		"events tail --from-beginning": {"events tail --from-beginning", tailed, map[string]string{"events tail --since 1m --from-beginning": "can't be used together"}},
		"events tail --count":          {"events tail -n 3", tailed, map[string]string{"events tail --count=-1": above}},
	}
}
