package results

import (
	"bytes"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

func unzstd(t *testing.T, b []byte) string {
	t.Helper()
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	text, err := d.DecodeAll(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

const linkRows = linkHeader + `
2026-01-02T03:04:05.001000000Z,0.001000000000,nic-0,eth0,Nic,0,ul,1,3,4294967295,2,2,0.000008436,0.000008436,0.008436,0.000001,59.2,59.2,14.800000,14.8,0,0
2026-01-02T03:04:05.001000000Z,0.001000000000,rsw-0,eth0,Switch,0,dl,0,2,4294967295,2,2,0.000008436,0.000008436,0.000001,0.008436,59.2,59.2,20.000000,14.8,0,0
2026-01-02T03:04:05.002000000Z,0.002000000000,nic-0,eth0,Nic,0,ul,1,3,4294967295,2,2,0.000008436,0.000008436,0.000000,0.000000,59.2,59.2,0.000000,14.8,0,0
`

func TestSummarizeLinks(t *testing.T) {
	t.Parallel()
	const nicTier = `{"tier":"nic","interfaces":1,"bytesTx":8436,"bytesRx":1,"drops":0,"utilPercent":{"mean":7.4,"p50":0,"p99":14.8,"max":14.8}}`
	const nicHot = `{"componentName":"nic-0","ifid":0,"uldl":"ul","meanUtilPercent":7.4}`
	const nicPoint1 = `{"simTimeSec":0.001,"tier":"nic","meanUtilPercent":14.8,"maxUtilPercent":14.8}`
	const nicPoint2 = `{"simTimeSec":0.002,"tier":"nic","meanUtilPercent":0,"maxUtilPercent":0}`
	const rswTier = `{"tier":"rsw","interfaces":1,"bytesTx":1,"bytesRx":8436,"drops":0,"utilPercent":{"mean":20,"p50":20,"p99":20,"max":20}}`
	const rswPoint = `{"simTimeSec":0.001,"tier":"rsw","meanUtilPercent":20,"maxUtilPercent":20}`
	const rswHot = `{"componentName":"rsw-0","ifid":0,"uldl":"dl","meanUtilPercent":20}`
	for tier, want := range map[string]string{
		"nic": `{"tiers":[` + nicTier + `],"series":[` + nicPoint1 + `,` + nicPoint2 + `],"hottest":[` + nicHot + `]}`,
		"all": `{"tiers":[` + rswTier + `,` + nicTier + `],"series":[` + rswPoint + `,` + nicPoint1 + `,` + nicPoint2 + `],"hottest":[` + rswHot + `,` + nicHot + `]}`,
	} {
		var out bytes.Buffer
		read, err := SummarizeLinks(&out, tier, strings.NewReader(linkRows))
		if err != nil || read != 3 {
			t.Fatalf("read %d rows, error %v; want 3 rows", read, err)
		}
		if got := unzstd(t, out.Bytes()); got != want {
			t.Errorf("summary of tier %s:\n%s\nwant\n%s", tier, got, want)
		}
	}
}

func TestSummarizePerf(t *testing.T) {
	t.Parallel()
	shard := func(usec string) *strings.Reader {
		return strings.NewReader(perfHeader + "\nx,TransferFCT,1.0," + usec + ",TransferFCT.allReduce.GroupSize2.CommSize8Bytes,0,0,0,0,2,4,rank-0,rank-1\n")
	}
	var out bytes.Buffer
	read, err := SummarizePerf(&out, shard("0.001000"), shard("0.002000"), shard("0.000030"))
	if err != nil || read != 3 {
		t.Fatalf("read %d rows, error %v; want 3 rows", read, err)
	}
	want := `{"paths":[{"metricPath":"TransferFCT.allReduce.GroupSize2.CommSize8Bytes","count":3,"bytes":12,` +
		`"usec":{"mean":0.00101,"p50":0.001,"p99":0.002,"p99_9":0.002,"max":0.002}}]}`
	if got := unzstd(t, out.Bytes()); got != want {
		t.Errorf("summary:\n%s\nwant\n%s", got, want)
	}
}

// TestSummarizeLong: sums of long times do not overflow, and no percentile
// exceeds the maximum.
func TestSummarizeLong(t *testing.T) {
	t.Parallel()
	const rows = 10_000
	row := "x,TransferFCT,3600.0,3600000000.000001,p,0,0,0,0,2,4,rank-0,rank-1\n"
	var out bytes.Buffer
	if _, err := SummarizePerf(&out, strings.NewReader(perfHeader+"\n"+strings.Repeat(row, rows))); err != nil {
		t.Fatal(err)
	}
	const hour = "3600000000.000001"
	want := `{"paths":[{"metricPath":"p","count":10000,"bytes":40000,` +
		`"usec":{"mean":` + hour + `,"p50":` + hour + `,"p99":` + hour + `,"p99_9":` + hour + `,"max":` + hour + `}}]}`
	if got := unzstd(t, out.Bytes()); got != want {
		t.Errorf("summary:\n%s\nwant\n%s", got, want)
	}
}

func TestSummarizeRefuses(t *testing.T) {
	t.Parallel()
	for _, shard := range []string{"", "a,b\n", perfHeader + "\nx,TransferFCT,1.0,1x,p,0,0,0,0,2,4,a,b\n"} {
		if _, err := SummarizePerf(&bytes.Buffer{}, strings.NewReader(shard)); err == nil {
			t.Errorf("%q is accepted", shard)
		}
	}
}

func TestTimeBins(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Int64Range(0, 1<<59).Draw(t, "ps")
		if got := binTime(timeBin(v)); got < v || got-v > v>>10 {
			t.Fatalf("%d is in a bin whose largest value is %d; want at least it and at most a 2^10th more", v, got)
		}
	})
}
