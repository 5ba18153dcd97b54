package projections

// Definitions returns the columns that the Go code writes, by SQL table.
func Definitions() map[string][]string {
	return map[string][]string{
		"account_quotas":         quotaColumns.Definition(),
		"account_storage":        accountStorageColumns.Definition(),
		"billing_events":         billingEventColumns.Definition(),
		"billing_items":          billingItemColumns.Definition(),
		"checkpoints":            checkpointColumns.Definition(),
		"configuration_counts":   countChangeColumns.Definition(),
		"configuration_versions": configurationVersionColumns.Definition(),
		"configurations":         configurationColumns.Definition(),
		"credit_holds":           creditHoldColumns.Definition(),
		"daily_costs":            dailyCostColumns.Definition(),
		"mapping_files":          mappingFileColumns.Definition(),
		"operations":             operationColumns.Definition(),
		"rates":                  rateColumns.Definition(),
		"simulation_counts":      countChangeColumns.Definition(),
		"simulation_history":     momentColumns.Definition(),
		"simulation_items":       simulationItemColumns.Definition(),
		"simulations":            simulationColumns.Definition(),
		"studies":                studyColumns.Definition(),
		"study_shares":           studyShareColumns.Definition(),
		"tracesets":              tracesetColumns.Definition(),
		"uploads":                uploadColumns.Definition(),
		"webhooks":               webhookColumns.Definition(),
		"workspaces":             workspaceColumns.Definition(),
	}
}

// Grams returns the grams of a folded name.
var Grams = grams
