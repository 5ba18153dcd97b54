package main

import "netsim/events"

// family is a topic and its streams.
type family struct {
	Family  events.Family
	Streams string // which resources have a stream, and the form of its id
}

// Topic returns the topic's name with the default prefix.
func (f family) Topic() string { return "netsim." + string(f.Family) }

func families() []family {
	streams := map[events.Family]string{
		events.Workspaces:     "one per workspace: `workspace_…`",
		events.Configurations: "one per configuration or template: `config_…`",
		events.Simulations:    "one per simulation: `sim_…`",
		events.Tracesets:      "one per traceset: `ts_…`",
		events.MappingFiles:   "one per mapping file and per upload: `mapfile_…`, `upload_…`",
		events.Billing:        "one per billing account, and one per platform for its price list: `acct_…`, `platform_…`",
		events.Checkpoints:    "one per deployment: `checkpoint_…`; in this and every other topic, one per partition for its seals: `seal_…` ([the log](log.md))",
	}
	var all []family
	for _, f := range events.Families() {
		all = append(all, family{f, streams[f]})
	}
	return all
}

// attribute is one header of a record.
type attribute struct {
	Name     string
	Required bool
	Pattern  string // of its value
	Meaning  string
}

// attributes lists the headers of a record: those that make it a CloudEvent and
// the frame, in the order in which it is hashed.
func attributes() []attribute {
	const number, visible = "^[1-9][0-9]*$", "^[!-~]{1,512}$"
	return []attribute{
		{"ce_specversion", true, `^1\.0$`, "version of CloudEvents"},
		{"ce_source", true, visible, "the writer; not part of the frame"},
		{"content-type", true, "^application/json$", "media type of the value; not part of the frame"},
		{"ce_frameversion", true, "^1$", "version of the frame"},
		{"ce_id", true, visible, "the event's id, a UUID"},
		{"ce_type", true, visible, "the event's type"},
		{"ce_subject", true, visible, "the stream; equal to the record's key"},
		{"ce_partitionkey", true, visible, "workspace id, or account id where there is none; the partition is its FNV-1a hash modulo the number of partitions"},
		{"ce_sequence", true, number, "1, 2, 3 … within the stream"},
		{"ce_previoushash", false, "^[0-9a-f]{64}$", "hash of the stream's previous event; absent at sequence 1"},
		{"ce_commandid", false, visible, "id of the command that made the event; a repeated command has the same id"},
		{"ce_commanddigest", false, visible, "digest of the command's body"},
		{"ce_time", true, `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$`, "when it happened, UTC"},
		{"ce_actor", false, visible, "a user's id, or `system`"},
		{"ce_correlationid", false, visible, "the request that led to the event"},
		{"ce_causeid", false, visible, "id of the event that this one reacts to"},
		{"ce_dataversion", true, number, "version of the data's schema"},
		{"netsim-seal", false, "^[0-9a-f]{16}:[0-9a-f]{64}$", "the writer's seal, required once the partition has a `netsim.log.sealed.v1`; not part of the frame"},
	}
}
