package main

import (
	"netsim/events"
	"netsim/stream/public"
)

// family is a topic and its streams.
type family struct {
	Family  events.Family
	Streams string // which resources have a stream, and the form of its id
}

// Topic returns the name of the public topic with the default prefix.
func (f family) Topic() string { return "netsim.public." + string(f.Family) }

func families() []family {
	streams := map[events.Family]string{
		events.Workspaces:     "one per workspace and per webhook: `workspace_…`, `webhook_…`",
		events.Configurations: "one per configuration or template: `config_…`",
		events.Simulations:    "one per simulation: `sim_…`",
		events.Tracesets:      "one per traceset: `ts_…`",
		events.MappingFiles:   "one per mapping file and per upload: `mapfile_…`, `upload_…`",
		events.Billing:        "one per billing account, and one per platform for its price list: `acct_…`, `platform_…`",
		events.Checkpoints:    "one per deployment: `checkpoint_…`; one per command of an operator: `operation_…`; in this and every other topic, one per partition of the log for its seals: `seal_…`",
	}
	var all []family
	for _, f := range events.Families() {
		all = append(all, family{f, streams[f]})
	}
	return all
}

// sealed is the type whose events are in the topics of all families.
var sealed = events.LogSealed{}.EventType()

// attribute is one header of a public message.
type attribute struct {
	Name     string
	Required bool
	Pattern  string // of its value
	Example  string
	Meaning  string
}

// schemaIDHeader has the id of the data's schema in the schema registry.
const schemaIDHeader = "netsim-schema-id"

// attributes lists the headers of a public message, in the order in which they
// are written.
func attributes() []attribute {
	const (
		number  = "^(0|[1-9][0-9]*)$"
		visible = "^[!-~]{1,512}$"
		instant = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$`
	)
	values := map[string]struct{ pattern, example string }{
		"ce_specversion":       {`^1\.0$`, "1.0"},
		"ce_id":                {visible, "01999999-0000-7000-8000-000000000001"},
		"ce_source":            {"^/netsim$", "/netsim"},
		"ce_type":              {visible, "netsim.workspace.created.v1"},
		"ce_subject":           {visible, exampleStream},
		"ce_time":              {instant, "2026-09-21T14:13:20.123Z"},
		"content-type":         {"^application/json$", "application/json"},
		"ce_dataschema":        {"^/schemas/[^/]+/[1-9][0-9]*$", "/schemas/netsim.workspace.created.v1/1"},
		"ce_sequence":          {"^[1-9][0-9]*$", "1"},
		"ce_partitionkey":      {visible, exampleStream},
		"ce_commandid":         {visible, "01999999-0000-7000-8000-000000000002"},
		"ce_actor":             {visible, "user_06f6k8z0ce4m7w1q9t2v5x0008"},
		"ce_correlationid":     {visible, "01999999-0000-7000-8000-000000000003"},
		"ce_causeid":           {visible, "01999999-0000-7000-8000-000000000004"},
		"ce_dataversion":       {"^[1-9][0-9]*$", "1"},
		"ce_recordedtime":      {instant, "2026-09-21T14:13:20.125Z"},
		"ce_hash":              {"^[0-9a-f]{64}$", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
		public.SourceTopic:     {visible, "netsim.workspaces"},
		public.SourcePartition: {number, "3"},
		public.SourceOffset:    {number, "81204"},
	}
	var all []attribute
	for _, a := range public.Attributes() {
		value := values[a.Header]
		all = append(all, attribute{a.Header, !a.Optional, value.pattern, value.example, a.Meaning})
	}
	return append(all, attribute{
		schemaIDHeader, false, "^[1-9][0-9]*$", "12",
		"id of the data's schema in the schema registry, when the deployment has one and has reached it",
	})
}

// exampleStream is the stream of the examples.
const exampleStream = "workspace_06f6k8z0ce4m7w1q9t2v5x0002"
