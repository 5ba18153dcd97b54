package validation_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/simulator/document"
	"netsim/simulator/validation"
)

// TestCheckMappingFile: mapping files give the findings of completions 3.6. The rack
// has eight servers.
func TestCheckMappingFile(t *testing.T) {
	t.Parallel()
	ready := &validation.Traceset{Status: "ready", Ranks: 3}
	file := func(servers ...uint32) *validation.MappingFile {
		return &validation.MappingFile{Ranks: int64(len(servers)), Servers: servers}
	}
	mapped := func(use bool, name string) func(*document.Document) {
		return func(d *document.Document) {
			set("workload", "ChakraConfiguration.UseMapping", use)(d)
			set("workload", "ChakraConfiguration.MappingFileName", name)(d)
		}
	}
	for name, c := range map[string]struct {
		traceset *validation.Traceset
		file     *validation.MappingFile
		change   func(*document.Document)
		want     string // without findings about the traceset
	}{
		"none":                         {ready, nil, nil, ""},
		"none, but its name is set":    {ready, nil, mapped(false, "x"), ""},
		"none, but UseMapping is set":  {ready, nil, mapped(true, ""), "CONSTRAINT_VIOLATION $.applications[0].typedParameters.ChakraConfiguration.UseMapping"},
		"in use":                       {ready, file(7, 0, 3), mapped(true, "chakra-mapping.txt"), ""},
		"deleted":                      {ready, &validation.MappingFile{Deleted: true, Ranks: 3}, nil, "MAPPING_FILE_DELETED $.applications[0]"},
		"too few ranks":                {ready, file(0, 1), nil, "MAPPING_RANK_COUNT_MISMATCH $.applications[0]"},
		"too many ranks":               {ready, file(0, 1, 2, 3), nil, "MAPPING_RANK_COUNT_MISMATCH $.applications[0]"},
		"a server outside the network": {ready, file(0, 8, 1), nil, "MAPPING_SERVER_UNKNOWN $.applications[0]"},
		"the largest server id":        {ready, file(0, 1, 1<<32-2), nil, "MAPPING_SERVER_UNKNOWN $.applications[0]"},
		"ranks not known yet":          {&validation.Traceset{Status: "processing"}, file(9), nil, ""},
		"no traceset":                  {nil, file(9), nil, ""},
		"a network that is too large":  {ready, file(0, 1, 1<<32-2), func(d *document.Document) { d.Topology.Components[0].Count = 1 << 53 }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := completed(t, rack)
			if c.change != nil {
				c.change(d)
			}
			var got []string
			for _, text := range listed(t, d, validation.Check(d, validation.Attachments{Traceset: c.traceset, MappingFile: c.file})) {
				code, _, _ := strings.Cut(text, " ")
				if strings.HasPrefix(code, "MAPPING_") || strings.HasSuffix(text, "UseMapping") {
					got = append(got, text)
				}
			}
			if diff := cmp.Diff(strings.Fields(c.want), strings.Fields(strings.Join(got, " "))); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMappingServerMessage(t *testing.T) {
	t.Parallel()
	d := completed(t, rack)
	for _, f := range validation.Check(d, validation.Attachments{
		Traceset:    &validation.Traceset{Status: "ready", Ranks: 3},
		MappingFile: &validation.MappingFile{Ranks: 3, Servers: []uint32{1, 9, 8}},
	}) {
		if f.Code == "MAPPING_SERVER_UNKNOWN" {
			if !strings.Contains(f.Message, "2 ranks") || !strings.Contains(f.Message, "has 8") || !strings.Contains(f.Message, "rank 1 on server 9") {
				t.Errorf("message %q, want 2 ranks, 8 servers and rank 1 on server 9", f.Message)
			}
			return
		}
	}
	t.Error("no finding MAPPING_SERVER_UNKNOWN")
}
