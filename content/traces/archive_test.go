package traces_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"netsim/commands"
	"netsim/content/traces"
	"netsim/events"
	"netsim/fault"
	"netsim/simulator/chakra"
)

// entry is one entry of an archive.
type entry struct {
	name, content string
	kind          byte // the type flag of tar; 0 for a file
}

func packed(t *testing.T, entries ...entry) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: e.kind, Mode: 0o600, Size: int64(len(e.content))}
		if e.kind == tar.TypeSymlink {
			h.Linkname = "elsewhere"
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func gzipped(t *testing.T, content string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, content)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstdCompressed(t *testing.T, content string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(w.EncodeAll([]byte(content), nil))
}

// entries returns the entries of an archive with the files in a folder.
func entries(files uploads) []entry {
	list := []entry{{"traces/", "", tar.TypeDir}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		list = append(list, entry{"traces/" + name, files[name], 0})
	}
	return list
}

// Source: completions 6.2, many ranks.
func TestExtractArchives(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eight := entries(ranks(8))
	others := append(slices.Clone(eight), entry{"traces/README", "read me", 0}, entry{"./._rank_0.chakra.json", "x", 0})
	compressed := uploads{}
	for name, content := range ranks(4) {
		compressed[name+".gz"] = gzipped(t, content)
	}
	grouped := append(entries(ranks(4)), entry{"traces/comm_groups.json", `{"g": [0, 1, 2, 3]}`, 0})
	split := func(from, to int) []entry {
		files := uploads{}
		for rank := from; rank < to; rank++ {
			files[fmt.Sprintf("rank_%d.chakra.json", rank)] = reducing("")
		}
		return entries(files)
	}
	for name, c := range map[string]struct {
		files    uploads
		ranks    int64
		count    int64
		ranges   []events.RankRange
		warnings []string
	}{
		"tar":          {uploads{"all.tar": packed(t, eight...)}, 8, 8, []events.RankRange{{File: "all.tar", Start: 0, End: 7}}, nil},
		"gzip":         {uploads{"all.tar.gz": gzipped(t, packed(t, eight...))}, 8, 8, []events.RankRange{{File: "all.tar.gz", Start: 0, End: 7}}, nil},
		"zstd":         {uploads{"all.tar.zst": zstdCompressed(t, packed(t, eight...))}, 8, 8, []events.RankRange{{File: "all.tar.zst", Start: 0, End: 7}}, nil},
		"another name": {uploads{"all.bin": gzipped(t, packed(t, eight...))}, 8, 8, []events.RankRange{{File: "all.bin", Start: 0, End: 7}}, nil},
		"other files": {uploads{"all.tar": packed(t, others...)}, 8, 8, []events.RankRange{{File: "all.tar", Start: 0, End: 7}},
			[]string{`all.tar: entry "traces/README" is no rank file and is left out`, `all.tar: entry "./._rank_0.chakra.json" is no rank file and is left out`}},
		"compressed": {uploads{"all.tar": packed(t, entries(compressed)...)}, 4, 4, []events.RankRange{{File: "all.tar", Start: 0, End: 3}}, nil},
		"groups":     {uploads{"all.tar": packed(t, grouped...)}, 4, 5, []events.RankRange{{File: "all.tar", Start: 0, End: 3}}, nil},
		"two": {uploads{"a.tar": packed(t, split(2, 5)...), "b.tar": packed(t, split(0, 2)...)}, 5, 5,
			[]events.RankRange{{File: "b.tar", Start: 0, End: 1}, {File: "a.tar", Start: 2, End: 4}}, nil},
		"beside a rank": {with(uploads{"a.tar": packed(t, split(1, 3)...)}, "rank_0.chakra.json", reducing("")), 3, 3,
			[]events.RankRange{{File: "rank_0.chakra.json", Start: 0, End: 0}, {File: "a.tar", Start: 1, End: 2}}, nil},
	} {
		for again := range 2 { // another traceset of the same library
			row := w.extract(c.files, "")
			if row.Status != commands.TracesetReady || row.RankCount != c.ranks || row.Layout != events.LayoutFolder || row.FileCount != c.count {
				t.Errorf("%s: %s %s, %d ranks, layout %s, %d files, want ready with %d ranks and %d files", name, row.Status, row.Failure, row.RankCount, row.Layout, row.FileCount, c.ranks, c.count)
				break
			}
			var ranges []events.RankRange
			var warnings []string
			if err := json.Unmarshal([]byte(row.Ranges), &ranges); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(row.Warnings), &warnings); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.ranges, ranges); diff != "" {
				t.Errorf("%s: ranges (-want +got):\n%s", name, diff)
			}
			if !slices.Equal(c.warnings, warnings) {
				t.Errorf("%s: warnings %q, want %q", name, warnings, c.warnings)
			}
			opened, err := traces.Open(t.Context(), w.Objects, &row)
			if err != nil || int64(len(opened.Files)) != c.ranks {
				t.Errorf("%s: opened %d rank files, %v, want %d", name, len(opened.Files), err, c.ranks)
			}
			if report, err := chakra.Inspect(opened.Files, opened.Groups, chakra.Limits{}); err != nil || !report.Valid() {
				t.Errorf("%s, extraction %d: report %+v, %v, want it valid", name, again+1, report, err)
			}
		}
	}
}

// TestArchiveRefusals: malformed and hostile archives are refused.
func TestArchiveRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := entry{"rank_0.chakra.json", reducing(""), 0}
	whole := gzipped(t, packed(t, entries(ranks(8))...))
	broken := []byte(whole)
	broken[len(broken)-6] ^= 1 // in the checksum at the end
	bomb := packed(t, one, entry{"zeros", strings.Repeat("\x00", 40<<20), 0})
	for name, c := range map[string]struct {
		files uploads
		want  string
	}{
		"a path out":                         {uploads{"a.tar": packed(t, one, entry{"../rank_1.chakra.json", "x", 0})}, `a.tar: entry "../rank_1.chakra.json" leads out`},
		"a path back out":                    {uploads{"a.tar": packed(t, one, entry{"x/../../rank_1.chakra.json", "x", 0})}, "leads out"},
		"an absolute path":                   {uploads{"a.tar": packed(t, entry{"/etc/rank_1.chakra.json", "x", 0})}, "leads out"},
		"a link":                             {uploads{"a.tar": packed(t, one, entry{"rank_1.chakra.json", "", tar.TypeSymlink})}, `entry "rank_1.chakra.json" is a link or a device, not a file`},
		"a rank twice in one archive":        {uploads{"a.tar": packed(t, one, entry{"again/rank_0.chakra.json", "x", 0})}, "is there already"},
		"a rank in two archives":             {uploads{"a.tar": packed(t, one), "b.tar": packed(t, one)}, "is there already"},
		"a rank in an archive and beside it": {with(uploads{"a.tar": packed(t, one)}, "rank_0.chakra.json", "x"), "in an archive, too"},
		"neither a rank file nor an archive": {uploads{"a.tar": packed(t, one), "b.bin": "hello"}, "b.bin: the file is neither a rank file"},
		"a truncated archive":                {uploads{"a.tar.gz": whole[:len(whole)/2]}, "a.tar.gz: the archive ends in the middle"},
		"a wrong checksum":                   {uploads{"a.tar.gz": string(broken)}, "a.tar.gz: the archive cannot be read"},
		"a decompression bomb":               {uploads{"a.tar.gz": gzipped(t, bomb)}, "a.tar.gz: the archive decompresses to more than 256 times its size"},
		"a decompression bomb in zstd":       {uploads{"a.tar.zst": zstdCompressed(t, bomb)}, "more than 256 times its size"},
		"an empty archive":                   {uploads{"a.tar": packed(t)}, "a.tar: the name has to be"},
		"a missing rank":                     {uploads{"a.tar": packed(t, entry{"rank_1.chakra.json", reducing(""), 0})}, "rank 0 is missing"},
		"a truncated rank":                   {uploads{"a.tar": packed(t, one, entry{"rank_1.chakra.json", reducing("")[:150], 0})}, "rank_1.chakra.json: "},
		"not stored":                         {uploads{"a.tar": "lost"}, "not stored"},
	} {
		row := w.extract(c.files, "")
		if row.Status != commands.TracesetMetadataFailed || !strings.Contains(row.Failure, c.want) {
			t.Errorf("%s: %s %q, want %s with %q", name, row.Status, row.Failure, commands.TracesetMetadataFailed, c.want)
		}
	}
}

// TestOpenWhatIsGone: reading process groups or a rank file that is not stored is
// NotFound.
func TestOpenWhatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	row := w.row(w.put(uploads{"rank_0.chakra.json": "lost", "comm_groups.json": "lost"}, ""))
	if _, err := traces.Open(t.Context(), w.Objects, &row); !fault.Is(err, fault.NotFound) {
		t.Errorf("open missing groups: %v, want not found", err)
	}
	row = w.row(w.put(uploads{"rank_0.chakra.json": "lost"}, ""))
	opened, err := traces.Open(t.Context(), w.Objects, &row)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := opened.Files[0].Open(); !fault.Is(err, fault.NotFound) {
		t.Errorf("open a missing rank: %v, want not found", err)
	}
}

// TestManyRanks: an archive with 4,096 ranks is extracted.
func TestManyRanks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	row := w.extract(uploads{"all.tar.gz": gzipped(t, packed(t, entries(ranks(4096))...))}, `{"parallelism":{"dp":64,"tp":64}}`)
	if row.Status != commands.TracesetReady || row.RankCount != 4096 || row.FileCount != 4096 {
		t.Errorf("%s %s, %d ranks, want ready with 4096", row.Status, row.Failure, row.RankCount)
	}
	if s := summaryOf(t, row); s.Nodes != 8192 || !cmp.Equal(s.GroupSizes, []int64{4096}) {
		t.Errorf("summary %+v, want 8192 nodes and one group of 4096", s)
	}
}
