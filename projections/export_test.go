package projections

import "slices"

// Definitions returns the columns that the Go code writes, by SQL table.
func Definitions() map[string][]string {
	items := simulationItemColumns.Definition()
	items[slices.Index(items, `"grams" text NOT NULL`)] = `"grams" _int4 NOT NULL` // which is written as text
	return map[string][]string{
		"account_quotas":         quotaColumns.Definition(),
		"account_storage":        accountStorageColumns.Definition(),
		"billing_events":         billingEventColumns.Definition(),
		"billing_items":          billingItemColumns.Definition(),
		"configuration_counts":   countChangeColumns.Definition(),
		"configuration_versions": configurationVersionColumns.Definition(),
		"configurations":         configurationColumns.Definition(),
		"credit_holds":           creditHoldColumns.Definition(),
		"daily_costs":            dailyCostColumns.Definition(),
		"mapping_files":          mappingFileColumns.Definition(),
		"rates":                  rateColumns.Definition(),
		"simulation_counts":      countChangeColumns.Definition(),
		"simulation_history":     momentColumns.Definition(),
		"simulation_items":       items,
		"simulations":            simulationColumns.Definition(),
		"tracesets":              tracesetColumns.Definition(),
		"uploads":                uploadColumns.Definition(),
		"workspaces":             workspaceColumns.Definition(),
	}
}

// Grams returns the grams of a name as text of an array.
var Grams = grams
