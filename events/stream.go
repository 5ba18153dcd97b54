package events

import (
	"fmt"
	"slices"
	"strings"
)

// Family is a family of aggregates. The records of a family are in one topic,
// whose name is the family's with a prefix.
type Family string

// The families.
const (
	Workspaces     Family = "workspaces"
	Configurations Family = "configurations"
	Simulations    Family = "simulations"
	Tracesets      Family = "tracesets"
	MappingFiles   Family = "mappingfiles"
	Billing        Family = "billing"
	Checkpoints    Family = "checkpoints"
)

// Families lists every family, in the order in which topics are made and read.
func Families() []Family {
	return []Family{Workspaces, Configurations, Simulations, Tracesets, MappingFiles, Billing, Checkpoints}
}

// streamKind is a kind of stream: the prefix of its ids, and its family.
type streamKind struct {
	prefix string
	family Family // "" for a kind that is in every family; its ids name the family
}

func streamKinds() []streamKind {
	return []streamKind{
		{WorkspacePrefix, Workspaces},
		{WebhookPrefix, Workspaces},
		{ConfigurationPrefix, Configurations},
		{SimulationPrefix, Simulations},
		{StudyPrefix, Simulations},
		{TracesetPrefix, Tracesets},
		{MappingFilePrefix, MappingFiles},
		{UploadPrefix, MappingFiles},
		{AccountPrefix, Billing},
		{PlatformPrefix, Billing},
		{CheckpointPrefix, Checkpoints},
		{OperationPrefix, Checkpoints},
		{SealPrefix, ""},
	}
}

// StreamPrefixes lists the id prefixes of all kinds of streams.
func StreamPrefixes() []string {
	var prefixes []string
	for _, k := range streamKinds() {
		prefixes = append(prefixes, k.prefix)
	}
	return prefixes
}

// FamilyOf returns the family of a stream.
func FamilyOf(stream string) (Family, error) {
	prefix, rest, _ := strings.Cut(stream, "_")
	for _, k := range streamKinds() {
		if k.prefix != prefix {
			continue
		}
		if k.family != "" {
			return k.family, nil
		}
		name, _, _ := strings.Cut(rest, "_")
		if family := Family(name); slices.Contains(Families(), family) {
			return family, nil
		}
	}
	return "", fmt.Errorf("stream %q belongs to no family", stream)
}
