package readapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"netsim/api"
	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/projections"
	"netsim/simulator/chakra"
	"netsim/simulator/document"
	"netsim/simulator/presets"
	"netsim/simulator/validation"
)

// ValidateTraceset implements POST /tracesets/{id}/validate (completions.md
// section 6.4): it checks the stored files. It records nothing.
func (a *API) ValidateTraceset(ctx context.Context, r api.ValidateTracesetRequestObject) (api.ValidateTracesetResponseObject, error) {
	t, err := a.traceset(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	files, err := t.FileList()
	if err != nil {
		return nil, err
	}
	topology := ""
	if r.Body != nil {
		topology = r.Body.TopologyID
	}
	integrity, err := a.integrity(ctx, &t, files)
	if err != nil {
		return nil, err
	}
	correlation, err := a.correlation(ctx, &t, topology)
	if err != nil {
		return nil, err
	}
	checks := []api.TracesetCheck{integrity, metadata(&t), correlation}
	if t.LibraryHash != "" && t.Format != presets.Format {
		content, err := a.content(ctx, &t)
		if err != nil {
			return nil, err
		}
		checks = append(checks, content...)
	}
	valid := true
	for _, c := range checks {
		valid = valid && c.Passed
	}
	return api.ValidateTraceset200JSONResponse{Valid: valid, Checks: checks}, nil
}

// integrity compares the stored files with their hashes.
func (a *API) integrity(ctx context.Context, t *projections.Traceset, files []events.TracesetFile) (api.TracesetCheck, error) {
	check := api.TracesetCheck{Name: api.TracesetCheckNameFileIntegrity}
	if t.LibraryHash == "" {
		check.Message = "the traceset is " + t.Status + " and has no files"
		return check, nil
	}
	for _, f := range files {
		sum := sha256.New()
		size, err := a.copyObject(ctx, sum, f.ObjectKey)
		switch {
		case fault.Is(err, fault.NotFound):
			check.Message = f.Name + " is missing"
			return check, nil
		case err != nil:
			return check, err
		case size != f.Size:
			check.Message = fmt.Sprintf("%s has %d bytes, but %d were uploaded", f.Name, size, f.Size)
			return check, nil
		case "sha256:"+hex.EncodeToString(sum.Sum(nil)) != f.Hash:
			check.Message = f.Name + " differs from the uploaded file: its hash differs"
			return check, nil
		}
	}
	check.Passed, check.Message = true, fmt.Sprintf("%d files are as they were uploaded", len(files))
	return check, nil
}

func (a *API) copyObject(ctx context.Context, to io.Writer, key string) (int64, error) {
	body, _, err := a.Objects.Get(ctx, key)
	if err != nil {
		return 0, err
	}
	defer body.Close() //nolint:errcheck // it was only read
	n, err := io.Copy(to, body)
	if err != nil {
		return n, fmt.Errorf("read %s: %w", key, err)
	}
	return n, nil
}

func metadata(t *projections.Traceset) api.TracesetCheck {
	c := api.TracesetCheck{Name: api.TracesetCheckNameMetadataComplete, Message: "the traceset is " + t.Status, Passed: t.Status == commands.TracesetReady}
	if t.Failure != "" {
		c.Message += ": " + t.Failure
	}
	return c
}

// correlation compares the number of ranks with the servers of a configuration.
func (a *API) correlation(ctx context.Context, t *projections.Traceset, topology string) (api.TracesetCheck, error) {
	check := api.TracesetCheck{Name: api.TracesetCheckNameTopologyCorrelation}
	if topology == "" {
		check.Passed, check.Message = true, "no topology given"
		return check, nil
	}
	c, err := a.AdmitConfiguration(ctx, topology)
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Forbidden) {
		check.Message = err.Error()
		return check, nil
	}
	if err != nil {
		return check, err
	}
	doc, err := document.Parse(c.Document)
	if err != nil {
		return check, err
	}
	servers, ok := validation.Placeable(doc)
	switch {
	case !ok:
		check.Message = "configuration " + topology + " does not say what its topology holds; validate it"
	case t.Status != commands.TracesetReady:
		check.Message = "the ranks are not known: the traceset is " + t.Status
	default:
		check.Passed = servers >= t.RankCount
		check.Message = fmt.Sprintf("%d ranks, and %d servers with a nic in configuration %s", t.RankCount, servers, topology)
	}
	return check, nil
}

// contentChecks returns the content checks of Chakra traces, each with its
// message when it passes.
func contentChecks() []struct {
	of      chakra.Check
	name    api.TracesetCheckName
	message string
} {
	return []struct {
		of      chakra.Check
		name    api.TracesetCheckName
		message string
	}{
		{chakra.CheckRanks, api.TracesetCheckNameRanks, "every rank has one file"},
		{chakra.CheckReadable, api.TracesetCheckNameReadableFiles, "every file reads to its end"},
		{chakra.CheckDependencies, api.TracesetCheckNameDependencyGraph, "no dependency is in a cycle"},
		{chakra.CheckMessages, api.TracesetCheckNameMessagePairing, "every send has its receive"},
		{chakra.CheckGroups, api.TracesetCheckNameProcessGroups, "every member of a process group takes part in what it does"},
	}
}

// content checks the content of the traces. The message of a failed check is its
// first finding, with file, rank and node. If ranks are missing or files are
// unreadable, the checks across files are skipped and fail.
func (a *API) content(ctx context.Context, t *projections.Traceset) ([]api.TracesetCheck, error) {
	wrong := map[chakra.Check]string{}
	report, err := a.Inspect(ctx, t)
	switch {
	case fault.Is(err, fault.NotFound): // the check file_integrity names the missing files
		wrong[chakra.CheckReadable], report = "files are missing", &chakra.Report{}
	case fault.Is(err, fault.Unprocessable):
		wrong[chakra.CheckGroups], report = err.Error(), &chakra.Report{}
	case err != nil:
		return nil, err
	}
	warned := map[chakra.Check]string{}
	for _, f := range report.Findings {
		into := wrong
		if f.Warning {
			into = warned
		}
		if _, first := into[f.Check]; !first {
			into[f.Check] = messageOf(f)
		}
	}
	_, ranks := wrong[chakra.CheckRanks]
	_, unread := wrong[chakra.CheckReadable]
	var checks []api.TracesetCheck
	for _, c := range contentChecks() {
		check := api.TracesetCheck{Name: c.name, Message: c.message, Passed: true}
		between := c.of == chakra.CheckMessages || c.of == chakra.CheckGroups
		if why, failed := wrong[c.of]; failed {
			check.Passed, check.Message = false, why
		} else if between && (ranks || unread) {
			check.Passed, check.Message = false, "not checked, because files are missing or cannot be read"
		} else if why, odd := warned[c.of]; odd {
			check.Message = why
		}
		checks = append(checks, check)
	}
	return checks, nil
}

// messageOf returns the text of a finding with its file, rank and node.
func messageOf(f chakra.Finding) string {
	text := f.String()
	if f.Rank >= 0 && !strings.Contains(text, "rank ") {
		text = fmt.Sprintf("rank %d: %s", f.Rank, text)
	}
	return text
}
