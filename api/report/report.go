// Package report converts validation findings to the contract's types.
package report

import (
	"netsim/api"
	"netsim/simulator/validation"
)

// Of groups findings by severity (completions.md section 3.6). The lists of the report
// are never null.
func Of(findings []validation.Finding) api.ValidationReport {
	report := api.ValidationReport{
		Status: api.ValidationReportStatusValid,
		Errors: []api.Finding{}, Warnings: []api.Finding{}, Info: []api.Finding{},
	}
	for _, f := range findings {
		view := api.Finding{
			Code: f.Code, Severity: api.FindingSeverity(f.Severity), Component: f.Component,
			Parameter: f.Parameter, Path: f.Path, Message: f.Message,
		}
		switch f.Severity {
		case validation.Error:
			report.Errors = append(report.Errors, view)
		case validation.Warning:
			report.Warnings = append(report.Warnings, view)
		default:
			report.Info = append(report.Info, view)
		}
	}
	report.Valid = len(report.Errors) == 0
	switch {
	case !report.Valid:
		report.Status = api.ValidationReportStatusError
	case len(report.Warnings) > 0:
		report.Status = api.ValidationReportStatusWarning
	}
	return report
}
