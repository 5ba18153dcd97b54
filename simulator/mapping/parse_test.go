package mapping_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"netsim/simulator/mapping"
)

func ExampleParse() {
	file, err := mapping.Parse(strings.NewReader(`# rank, server, group, subgroup
0, 4, 7, 0
1, 5, 7, 1
@ group, Gb/s, ns per switch hop, ns cable
7, 3600, 250, 5.5
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(file.RankCount(), file.ScaleUpGroupCount(), file.HasScaleUp())
	fmt.Println("rank 1 is on server", file.Places[1].Server)
	fmt.Printf("%+v\n", file.Groups[0])
	// Output:
	// 2 1 true
	// rank 1 is on server 5
	// {ID:7 BitsPerSecond:3600000000000 SwitchHop:250000 Cable:5500}
}

// Every rule of completions.md 6.5 has files that keep it and files that break
// it. An empty message means that the file is valid.
func TestRulesOfTheGrammar(t *testing.T) {
	t.Parallel()
	const groups = "0 0 5 1\n@\n"
	tests := []struct{ name, file, message string }{
		{"one rank", "0 0\n", ""},
		{"last LF missing", "0 0\n1 1", ""},
		{"last LF of the second section missing", groups + "5 1 0 0", ""},
		{"separators in any mixture", " ,0,, ,4 ,\n,1 5\n", ""},
		{"comment after a line", "0 0 # here\n", ""},
		{"comment without separator", "0 0#here\n", ""},
		{"blank and comment lines", "\n , \n#\n  # x\n0 0\n\n", ""},
		{"any byte in a comment", "0 0 # \x00\xff\t@#\n", ""},
		{"four fields", groups + "5 1 0 0\n", ""},
		{"two and four fields mixed", "0 0 5 1\n1 1\n@\n5 1 0 0\n", ""},
		{"no group in a second section", "0 0\n@\n", ""},
		{"leading zeros", "00000000000000 0007\n", ""},
		{"ranks in any order", "1 0\n0 1\n", ""},

		{"empty", "", "file has no rank line"},
		{"comments only", "# a\n\n", "file has no rank line"},
		{"one field", "0 0\n1\n", "line 2: expected 2 or 4 fields, got 1"},
		{"three fields", "0 0 0\n", "line 1: expected 2 or 4 fields, got 3"},
		{"five fields", "0 0 0 0 0\n", "line 1: expected 2 or 4 fields, got 5"},
		{"three fields of a group", groups + "5 1 0\n", "line 3: expected 4 fields, got 3"},
		{"five fields of a group", groups + "5 1 0 0 0\n", "line 3: expected 4 fields, got 5"},
		{"two fields of a group", "0 0\n@\n1 1\n", "line 3: expected 4 fields, got 2"},

		{"CR before LF", "0 0\r\n", "line 1: carriage return is not allowed"},
		{"CR in a comment", "0 0\n# a\r\n", "line 2: carriage return is not allowed"},
		{"CR in the heading", "0 0\n@ a\r\n", "line 2: carriage return is not allowed"},
		{"tab", "0\t0\n", "line 1: tab is not a separator"},
		{"tab alone", "0 0\n\t\n", "line 2: tab is not a separator"},

		{"127 bytes", "0" + strings.Repeat(" ", 125) + "0\n", ""},
		{"127 bytes and a comment", "0" + strings.Repeat(" ", 125) + "0# more\n", ""},
		{"128 bytes", "0" + strings.Repeat(" ", 126) + "0\n", "line 1: more than 127 bytes before the comment"},
		{"128 bytes of a group", groups + "5 1 0 0" + strings.Repeat(" ", 121) + "\n", "line 3: more than 127 bytes before the comment"},
		{"4096 bytes", "0 0#" + strings.Repeat("x", 4092) + "\n", ""},
		{"4097 bytes", "0 0#" + strings.Repeat("x", 4093) + "\n", "line 1: more than 4096 bytes"},
		{"4096 bytes of heading", "0 0\n@" + strings.Repeat("x", 4095) + "\n", ""},
		{"4097 bytes of heading", "0 0\n@" + strings.Repeat("x", 4096) + "\n", "line 2: more than 4096 bytes"},
		{"a line longer than any buffer", "0 0#" + strings.Repeat("x", 1<<20), "line 1: more than 4096 bytes"},

		{"largest server", "0 4294967294\n", ""},
		{"reserved server", "0 4294967295\n", "line 1: serverId 4294967295 is reserved"},
		{"server above 32 bits", "0 4294967296\n", "line 1: expected a non-negative base-10 serverId that fits in 32 bits, got '4294967296'"},
		{"negative server", "0 -1\n", "line 1: expected a non-negative base-10 serverId that fits in 32 bits, got '-1'"},
		{"positive server", "0 +1\n", "line 1: expected a non-negative base-10 serverId that fits in 32 bits, got '+1'"},
		{"server in hex", "0 0x1\n", "line 1: expected a non-negative base-10 serverId that fits in 32 bits, got '0x1'"},
		{"server with a point", "0 1.0\n", "line 1: expected a non-negative base-10 serverId that fits in 32 bits, got '1.0'"},
		{"server of unprintable bytes", "0 \x01\xff\n", `line 1: expected a non-negative base-10 serverId that fits in 32 bits, got '\x01\xff'`},
		{"@ within the first section", "0 @\n", "line 1: expected a non-negative base-10 serverId that fits in 32 bits, got '@'"},
		{"rank", "x 0\n", "line 1: expected a non-negative base-10 rank that fits in 32 bits, got 'x'"},
		{"largest ids of groups", "0 0 4294967295 4294967295\n@\n4294967295 1 0 0\n", ""},
		{"group", "0 0 x 1\n", "line 1: expected a non-negative base-10 scaleUpGroupId that fits in 32 bits, got 'x'"},
		{"subgroup", "0 0 5 x\n", "line 1: expected a non-negative base-10 scaleUpSubgroupId that fits in 32 bits, got 'x'"},
		{"group declared", groups + "x 1 0 0\n", "line 3: expected a non-negative base-10 scaleUpGroupId that fits in 32 bits, got 'x'"},

		{"rank twice", "0 0\n\n0 1\n", "line 3: rank 0 was already placed on line 1"},
		{"large rank twice", "4000000000 0\n4000000000 1\n", "line 2: rank 4000000000 was already placed on line 1"},
		{"server twice", "0 7\n1 7\n", "line 2: serverId 7 is already used on line 1"},
		{"large server twice", "0 4000000000\n1 4000000000\n", "line 2: serverId 4000000000 is already used on line 1"},
		{"rank missing", "0 0\n2 1\n3 2\n", "line 3: rank 3 is outside 0..2"},
		{"first rank missing", "2 0\n1 1\n", "line 1: rank 2 is outside 0..1"},
		{"largest rank", "4294967295 0\n", "line 1: rank 4294967295 is outside 0..0"},

		{"@ first", "@\n0 0\n", "line 1: '@' before any rank line"},
		{"@ after comments", "#\n@ x\n", "line 2: '@' before any rank line"},
		{"@ after a separator", "0 0\n @\n", "line 2: expected 2 or 4 fields, got 1"},
		{"@ after a field of the second section", groups + "5 1 0 0 @ x\n@ y\n5@\n", "line 5: expected 4 fields, got 1"},
		{"@ as a comment of the second section", groups + "5 1 0 0 @ x\n@ y\n @\n", ""},

		{"group declared twice", groups + "5 1 0 0\n5 2 0 0\n", "line 4: scale-up group 5 declared twice"},
		{"group not declared", "0 0\n1 1 5 1\n@\n6 1 0 0\n", "line 2: scale-up group 5 has no parameters"},
		{"group without a second section", "0 0 5 1\n", "line 1: scale-up group 5 has no parameters"},
		{"group declared but unused", "0 0\n@\n6 1 0 0\n", ""},
		{"the first of two errors that only the whole file shows", "0 0 5 1\n2 1\n", "line 1: scale-up group 5 has no parameters"},
		{"a bad line is reported before what only the whole file shows", "2 0\nx 1\n", "line 2: expected a non-negative base-10 rank that fits in 32 bits, got 'x'"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := mapping.Parse(strings.NewReader(tt.file))
			if got := message(err); got != tt.message {
				t.Errorf("got %q, want %q", got, tt.message)
			}
		})
	}
}

func TestDecimals(t *testing.T) {
	t.Parallel()
	const outOfRange, largest = "out of range", 1<<64 - 1
	tests := []struct {
		text       string
		bandwidth  uint64 // bit/s; 0 for out of range
		latency    uint64 // ps
		latencyBad bool
	}{
		{text: "0", latency: 0},
		{text: "0.000e5", latency: 0},
		{text: "1", bandwidth: 1e9, latency: 1e3},
		{text: "1.", bandwidth: 1e9, latency: 1e3},
		{text: "007.5", bandwidth: 75e8, latency: 7500},
		{text: "0.1", bandwidth: 1e8, latency: 100},
		{text: "4e2", bandwidth: 4e11, latency: 4e5},
		{text: "4E+2", bandwidth: 4e11, latency: 4e5},
		{text: "1e-3", bandwidth: 1e6, latency: 1},
		{text: "0.0009999999999999999999", bandwidth: 1e6, latencyBad: true},
		{text: "1e-9", bandwidth: 1, latencyBad: true},
		{text: "0.99e-9", latencyBad: true},
		{text: "1.5e-9", bandwidth: 2, latencyBad: true},
		{text: "1.49e-9", bandwidth: 1, latencyBad: true},
		{text: "1e-99999999999999999999", latencyBad: true},
		{text: "0e99999999999999999999", latency: 0},
		{text: "1e99999999999999999999", latencyBad: true},
		{text: "18446744073.709551615", bandwidth: largest, latency: 18446744073710},
		{text: "18446744073.7095516159", bandwidth: largest, latency: 18446744073710},
		{text: "1.8446744073709551999e10", bandwidth: largest, latency: 18446744073710},
		{text: "1.8446744073709552e10", latency: 18446744073710},
		{text: "18446744073709551.999", latency: largest},
		{text: "1.8446744073709551e16", latency: 18446744073709551000},
		{text: "1.8446744073709552e16", latencyBad: true},
		{text: "100000000000000000000000", latencyBad: true},
		{text: "-1", latencyBad: true}, {text: "+1", latencyBad: true}, {text: "-0", latencyBad: true},
		{text: "0x1", latencyBad: true}, {text: "inf", latencyBad: true}, {text: "nan", latencyBad: true},
		{text: "NaN", latencyBad: true}, {text: ".5", latencyBad: true}, {text: "1e", latencyBad: true},
		{text: "1e+", latencyBad: true}, {text: "1e1.5", latencyBad: true}, {text: "1.2.3", latencyBad: true},
		{text: "e1", latencyBad: true}, {text: "1_0", latencyBad: true}, {text: "1e+-2", latencyBad: true},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			f, err := mapping.Parse(strings.NewReader("0 0\n@\n1 " + tt.text + " 0 0\n"))
			switch {
			case tt.bandwidth == 0 && message(err) != "line 3: bandwidth "+outOfRange:
				t.Errorf("bandwidth: got %v, want %s", err, outOfRange)
			case tt.bandwidth != 0 && (err != nil || f.Groups[0].BitsPerSecond != tt.bandwidth):
				t.Errorf("bandwidth: got %v, %v, want %d", f, err, tt.bandwidth)
			}
			for _, line := range []string{"1 1 " + tt.text + " 0", "1 1 0 " + tt.text} {
				f, err := mapping.Parse(strings.NewReader("0 0\n@\n" + line + "\n"))
				switch {
				case tt.latencyBad && message(err) != "line 3: latency "+outOfRange:
					t.Errorf("latency: got %v, want %s", err, outOfRange)
				case !tt.latencyBad && (err != nil || max(f.Groups[0].SwitchHop, f.Groups[0].Cable) != tt.latency):
					t.Errorf("latency: got %v, %v, want %d", f, err, tt.latency)
				}
			}
		})
	}
}

func TestParsedFile(t *testing.T) {
	t.Parallel()
	got, err := mapping.Parse(strings.NewReader("2,9\n0,4,7,1 # first\n\n1,5,7,0\n@ a b c d\n7 100 1.5 0\n3 0.5 0 2\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := &mapping.File{
		Places: []mapping.Place{
			{Server: 4, Grouped: true, Group: 7, Subgroup: 1},
			{Server: 5, Grouped: true, Group: 7, Subgroup: 0},
			{Server: 9},
		},
		Groups: []mapping.Group{
			{ID: 7, BitsPerSecond: 100e9, SwitchHop: 1500},
			{ID: 3, BitsPerSecond: 5e8, Cable: 2000},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSizeIsBounded(t *testing.T) {
	t.Parallel()
	comment := "#" + strings.Repeat("x", 999) + "\n"
	full := strings.Repeat(comment, mapping.MaxBytes/len(comment))
	full = full[:mapping.MaxBytes-4-len(comment)] + "\n0 0\n"
	full += "#" + strings.Repeat("x", mapping.MaxBytes-len(full)-1)
	if _, err := mapping.Parse(strings.NewReader(full)); len(full) != mapping.MaxBytes || err != nil {
		t.Errorf("%d bytes: got %v, want %d bytes and no error", len(full), err, mapping.MaxBytes)
	}
	if _, err := mapping.Parse(strings.NewReader(full + "x")); !errors.Is(err, mapping.ErrTooLarge) {
		t.Errorf("%d bytes: got %v, want %v", len(full)+1, err, mapping.ErrTooLarge)
	}
}

func TestReadErrorIsReturned(t *testing.T) {
	t.Parallel()
	r := io.MultiReader(strings.NewReader("0 0\n1"), iotest.ErrReader(io.ErrClosedPipe))
	if _, err := mapping.Parse(r); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v, want %v", err, io.ErrClosedPipe)
	}
}

func TestChecksum(t *testing.T) {
	t.Parallel()
	sum := mapping.NewChecksum()
	if _, err := io.WriteString(sum, "123456789"); err != nil {
		t.Fatal(err)
	}
	// The published check value of CRC-64/NVME.
	if got := sum.Sum64(); got != 0xae8b14860a799888 {
		t.Errorf("got %#x, want 0xae8b14860a799888", got)
	}
	if got, want := mapping.FormatChecksum(sum.Sum64()), "crc64nvme:rosUhgp5mIg"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// For any bytes, Parse returns a file that has at least one rank and at most one
// per line, or an *Error about the file or one of its lines. It returns the same if
// the bytes arrive one by one.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"0 0\n", "0, 4, 7, 0\n1, 5, 7, 1\n@ x\n7, 3600, 250, 5.5\n", "1 1e3\n", "0 0#\n@\n#\n@\n1 1e-9 1e-3 0", "\r\n", "@", "0\t0",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := mapping.Parse(bytes.NewReader(text))
		slow, slowErr := mapping.Parse(iotest.OneByteReader(bytes.NewReader(text)))
		if message(err) != message(slowErr) || !cmp.Equal(file, slow) {
			t.Fatalf("all at once: %v, %v; byte by byte: %v, %v", file, err, slow, slowErr)
		}
		var wrong *mapping.Error
		switch {
		case err == nil && (file.RankCount() == 0 || file.RankCount() > bytes.Count(text, []byte("\n"))+1):
			t.Errorf("%d ranks in %q, want from 1 to its number of lines", file.RankCount(), text)
		case err != nil && (!errors.As(err, &wrong) || wrong.Line > bytes.Count(text, []byte("\n"))+1):
			t.Errorf("got %v for %q, want an error about one of its lines", err, text)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	var text bytes.Buffer
	for i := range 100_000 {
		fmt.Fprintf(&text, "%d, %d, %d, %d\n", i, i, i/72, i/8%9)
	}
	text.WriteString("@\n")
	for i := range 100_000/72 + 1 {
		fmt.Fprintf(&text, "%d, 3600, 250, 5.5\n", i)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := mapping.Parse(bytes.NewReader(text.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
