/** The headers of a frame, in the order in which they are hashed (docs/log.md). */
export const frameHeaders = [
	"ce_frameversion",
	"ce_id",
	"ce_type",
	"ce_subject",
	"ce_partitionkey",
	"ce_sequence",
	"ce_previoushash",
	"ce_commandid",
	"ce_commanddigest",
	"ce_time",
	"ce_actor",
	"ce_correlationid",
	"ce_causeid",
	"ce_dataversion",
];
