package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"netsim/cmd/operate"
	"netsim/cmd/settings"
	"netsim/infra/doctor"
)

type examine struct {
	JSON    bool          `help:"Print JSON instead of a table."`
	Timeout time.Duration `help:"Longest time of a check." default:"15s"`
}

// Validate implements kong.Validatable.
func (e examine) Validate() error {
	if e.Timeout <= 0 {
		return errors.New("--timeout must be longer than 0s")
	}
	return nil
}

// Help implements kong.HelpProvider.
func (examine) Help() string {
	return "It needs the settings of the service, and examines what the roles in NETSIM_ROLES need. It changes nothing that lasts. " +
		"The exit status is 1 if a check failed."
}

// Run examines the components and prints a row for each check.
func (e examine) Run(ctx context.Context) error {
	c, err := settings.FromEnvironment()
	var rows []doctor.Row
	if err != nil {
		rows = operate.ExamineSettings(err)
	} else if rows, err = operate.Examine(ctx, c, e.Timeout, time.Now); err != nil {
		return err
	}
	counts := map[doctor.Status]int{}
	for _, r := range rows {
		counts[r.Status]++
	}
	if e.JSON {
		err = printJSON(struct {
			Status doctor.Status `json:"status"`
			Checks []doctor.Row  `json:"checks"`
		}{doctor.Worst(rows), rows})
	} else {
		err = printRows(rows, counts)
	}
	if err == nil && counts[doctor.Fail] > 0 {
		err = fmt.Errorf("%d of %d checks failed", counts[doctor.Fail], len(rows))
	}
	return err
}

// printRows prints a table of all checks, and below it what to do. A finding is as long as
// it needs to be, so it is the last column.
func printRows(rows []doctor.Row, counts map[doctor.Status]int) error {
	var cells [][]string
	for _, r := range rows {
		cells = append(cells, []string{r.Component, r.Check, string(r.Status), r.Finding})
	}
	if err := printTable("nothing was checked", "COMPONENT CHECK STATUS FINDING", cells); err != nil {
		return err
	}
	todo := slices.DeleteFunc(slices.Clone(rows), func(r doctor.Row) bool { return r.Advice == "" })
	if len(todo) > 0 {
		fmt.Print("\nWhat to do:\n")
	}
	for _, r := range todo {
		fmt.Printf("  %s, %s (%s): %s\n", r.Component, r.Check, r.Status, printable(r.Advice))
	}
	var summary []string
	for _, status := range []doctor.Status{doctor.OK, doctor.Warn, doctor.Fail, doctor.Skipped} {
		summary = append(summary, fmt.Sprintf("%d %s", counts[status], status))
	}
	_, err := fmt.Printf("\n%s\n", strings.Join(summary, ", "))
	return err
}
