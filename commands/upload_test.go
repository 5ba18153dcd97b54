package commands_test

import (
	"strings"
	"testing"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
)

// Source: completions 6.2, 6.6.

func TestUploads(t *testing.T) {
	t.Parallel()
	opened := events.UploadOpened{Kind: events.UploadTraceset, ResultID: "ts_1", ExpiresAt: time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC)}
	later := opened
	later.ExpiresAt = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
	completed := events.UploadCompleted{ResultID: "ts_1"}
	abort := func(reason string) commands.AbortUpload { return commands.AbortUpload{ID: "upload_1", Reason: reason} }
	aborted := func(reason string) events.Data { return events.UploadAborted{Reason: reason} }
	complete := commands.CompleteUpload{ID: "upload_1", Completed: completed}
	check(t, []example[commands.Upload]{
		{"open", nil, commands.OpenUpload{Opened: opened}, event(opened)},
		{"open again", given(opened), commands.OpenUpload{Opened: opened}, nothing()},
		{"complete", given(opened), complete, event(completed)},
		{"complete again", given(opened, completed), complete, nothing()},
		{"complete what is aborted", given(opened, aborted("storage")), complete, refusal(fault.Conflict)},
		{"complete a missing one", nil, complete, refusal(fault.NotFound)},
		{"abort", given(later), abort("refused"), event(aborted("refused"))},
		{"abort again", given(opened, aborted("refused")), abort("expired"), nothing()},
		{"abort what is completed", given(opened, completed), abort("expired"), refusal(fault.Conflict)},
		{"abort a missing one", nil, abort("expired"), refusal(fault.NotFound)},
		{"expire", given(opened), abort("expired"), event(aborted("expired"))},
		{"expire too early", given(later), abort("expired"), refusal(fault.Conflict)},
		{"delete its traceset", given(later), abort("deleted"), event(aborted("deleted"))},
		{"delete what is aborted", given(later, aborted("storage")), abort("deleted"), event(aborted("deleted"))},
		{"delete it again", given(later, aborted("deleted")), abort("deleted"), refusal(fault.NotFound)},
		{"delete what is completed", given(later, completed), abort("deleted"), refusal(fault.Conflict)},
		{"abort what is deleted", given(later, aborted("deleted")), abort("expired"), nothing()},
	})
}

func TestMappingFiles(t *testing.T) {
	t.Parallel()
	made := events.MappingFileCreated{Name: "chakra-mapping.txt", RankCount: 2}
	gone := events.MappingFileDeleted{Reason: "request"}
	remove := commands.DeleteMappingFile{ID: "mapfile_1", Reason: "request"}
	check(t, []example[commands.MappingFile]{
		{"create", nil, commands.CreateMappingFile{Created: made}, event(made)},
		{"create again", given(made), commands.CreateMappingFile{Created: made}, nothing()},
		{"delete", given(made), remove, event(gone)},
		{"delete again", given(made, gone), remove, refusal(fault.NotFound)},
		{"delete a missing one", nil, remove, refusal(fault.NotFound)},
	})
}

func TestAttachMappingFile(t *testing.T) {
	t.Parallel()
	attach := func(file string, ranks int64) commands.AttachMappingFile {
		return commands.AttachMappingFile{ID: "config_1", MappingFileID: file, Live: true, RankCount: ranks}
	}
	gone := attach("mapfile_1", 2)
	gone.Live = false
	traced := and(smallCreated(t), events.ConfigurationTracesetAttached{Version: 2, TracesetID: "ts_1", RankCount: 2})
	attached := events.ConfigurationMappingFileAttached{Version: 3, MappingFileID: "mapfile_1"}
	mapped := and(traced, attached)
	unresolved := events.ConfigurationCreated{Document: smallText(t), Status: commands.Draft, TracesetID: "ts_1"}
	detach := commands.DetachMappingFile{ID: "config_1"}
	traceset := func(id string, ranks int64) commands.AttachTraceset {
		return commands.AttachTraceset{ID: "config_1", TracesetID: id, RankCount: ranks}
	}
	patch := commands.PatchParameters{ID: "config_1", Of: "application", Target: "work",
		Patch: []byte(`{"ChakraConfiguration":{"UseMapping":{"type":"bool","value":true}}}`)}
	replaced := commands.UpdateConfiguration{ID: "config_1", Members: []events.DocumentMember{{Member: "applications",
		Value: `[{"type":"application","trafficType":"chakra","name":"work","model":"chakra-workload-v1","version":"1.0.0"}]`}}}
	check(t, []example[commands.Configuration]{
		{"attach", traced, attach("mapfile_1", 2), event(attached)},
		{"attach again", mapped, attach("mapfile_1", 2), nothing()},
		{"attach another", mapped, attach("mapfile_2", 2), event(events.ConfigurationMappingFileAttached{Version: 4, MappingFileID: "mapfile_2"})},
		{"attach one of other ranks", traced, attach("mapfile_1", 3), refusal(fault.MappingRankCountMismatch)},
		{"attach one that is gone", traced, gone, refusal(fault.NotFound)},
		{"attach without a traceset", smallCreated(t), attach("mapfile_1", 2), refusal(fault.MappingRequiresTraceset)},
		{"attach before the ranks are known", given(unresolved), attach("mapfile_1", 2), refusal(fault.Conflict)},
		{"attach without a chakra application", and(traced, events.ConfigurationComponentRemoved{Version: 3, Name: "work"}), attach("mapfile_1", 2), refusal(fault.MappingRequiresChakraApp)},
		{"detach", mapped, detach, event(events.ConfigurationMappingFileDetached{Version: 4})},
		{"detach again", traced, detach, refusal(fault.NotFound)},

		{"a traceset of as many ranks", mapped, traceset("ts_2", 2), event(events.ConfigurationTracesetAttached{Version: 4, TracesetID: "ts_2", RankCount: 2})},
		{"a traceset of other ranks", mapped, traceset("ts_2", 3), refusal(fault.TracesetConflictsWithMapping)},
		{"no traceset", mapped, commands.DetachTraceset{ID: "config_1"}, refusal(fault.TracesetConflictsWithMapping)},
		{"a locked parameter", mapped, patch, refusal(fault.MappingParamsLocked)},
		{"an application without the mapping", mapped, replaced, refusal(fault.MappingParamsLocked)},
		{"one more application", mapped, commands.AddApplication{ID: "config_1", Name: "x", Model: "chakra-workload-v1"}, refusal(fault.MappingParamsLocked)},
	})
	state := configurationOf(mapped)
	if document := state.Document; state.MappingFile != "mapfile_1" || !contains(document, `"MappingFileName":{"type":"string","value":"chakra-mapping.txt"}`, `"UseMapping":{"type":"bool","value":true}`) {
		t.Errorf("after attaching: mapping file %s, document %s", state.MappingFile, document)
	}
	state.Evolve(events.Event{Data: events.ConfigurationMappingFileDetached{Version: 4}})
	if state.MappingFile != "" || !contains(state.Document, `"MappingFileName":{"type":"string","value":""}`, `"UseMapping":{"type":"bool","value":false}`) {
		t.Errorf("after detaching: mapping file %q, document %s", state.MappingFile, state.Document)
	}
}

func contains(text string, parts ...string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}
