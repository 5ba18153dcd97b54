package readapi_test

import (
	"bytes"
	"encoding/csv"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/internal/servicetest"
)

const studies = "/api/v1/studies"

// oversubscribed returns the request of a study with four points: two ratios and two sizes.
func oversubscribed() object {
	return object{
		"name": "worth", "base": object{"simple": object{
			"workload":            object{"ranks": 256, "phases": []object{{"operationType": "allToAll", "dataSize": 1}}},
			"topologyConstraints": object{"switchRadix": "128x400G"},
		}},
		"axes": []object{
			{"field": "topologyConstraints.subscriptionRatio", "values": []string{"1:1", "4:1"}},
			{"field": "workload.phases[0].dataSize", "values": []int{1 << 24, 1 << 30}},
		},
	}
}

// TestStudyAnalysis: the results of a study have the price of each point's fabric, and its
// analysis has the points that are not dominated and the sensitivity of each axis.
func TestStudyAnalysis(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	path := studies + "/" + user.Post(studies, oversubscribed()).Want(201).Object()["id"].(string)
	user.Eventually(path, func(r servicetest.Reply) bool { return r.Object()["status"] == "completed" })

	// At 1:1 four racks with 64 uplinks each and two upper switches; at 4:1 three racks with 25
	// uplinks each and one upper switch.
	full := object{"price": "1097280", "powerWatts": "21171.2", "switches": 6.0, "nics": 256.0, "links": 512.0}
	lean := object{"price": "814380", "powerWatts": "14713.2", "switches": 4.0, "nics": 256.0, "links": 331.0}
	rows := user.Get(path + "/results").Want(200).Object()["results"].([]any)
	times := make([]float64, len(rows))
	for point, row := range rows {
		want := full
		if point >= 2 {
			want = lean
		}
		if diff := cmp.Diff(want, row.(object)["fabric"]); diff != "" {
			t.Errorf("the fabric of point %d (-want +got):\n%s", point, diff)
		}
		times[point] = row.(object)["figures"].(object)["simulatedTimePs"].(float64)
	}

	got := user.Get(path + "/analysis").Want(200).Object()
	front, fronts := []any{}, []any{}
	for _, w := range got["workloads"].([]any) {
		fronts = append(fronts, w.(object)["front"])
	}
	for _, point := range []int{0, 2, 1, 3} { // within each size
		row := rows[point].(object)
		front = append(front, object{
			"point": float64(point), "inputs": row["inputs"], "simulationId": row["simulationId"], "simulatedTimePs": times[point], "fabric": row["fabric"],
		})
	}
	if diff := cmp.Diff(front, got["front"]); diff != "" || got["points"] != 4.0 || got["completed"] != 4.0 {
		t.Errorf("the front of %v of %v points (-want +got):\n%s", got["completed"], got["points"], diff)
	}
	if diff := cmp.Diff([]any{[]any{0.0, 2.0}, []any{1.0, 3.0}}, fronts); diff != "" {
		t.Errorf("the fronts of the workloads (-want +got):\n%s", diff)
	}
	list := got["priceList"].(object)
	if list["version"] == "" || list["currency"] != "USD" || !strings.Contains(list["assumption"].(string), "assumption") {
		t.Errorf("the price list is %v", list)
	}
	for i, kind := range []string{"design", "workload"} { // figures of one workload are not mixed with those of another
		axis := got["axes"].([]any)[i].(object)
		if groups := axis["time"].(object)["groups"]; axis["kind"] != kind || groups != 0.0 {
			t.Errorf("axis %d is %v, want one of the %s without groups", i, axis, kind)
		}
	}
	for i, w := range got["workloads"].([]any) {
		axes := w.(object)["axes"].([]any)
		ratio := axes[0].(object)
		if len(axes) != 1 || ratio["field"] != "topologyConstraints.subscriptionRatio" || w.(object)["completed"] != 2.0 {
			t.Fatalf("workload %d is %v, want its two points and the axis of the ratio", i, w)
		}
		want := times[i+2] / times[i]
		if s := ratio["time"].(object); s["groups"] != 1.0 || math.Abs(s["meanRatio"].(float64)-want) > 1e-9 || want < 1.5 {
			t.Errorf("the time changes by %v along the ratio, want %v", s, want)
		}
		price := ratio["price"].(object)
		values := []any{
			object{"value": "1:1", "groups": 1.0, "meanRatio": 1097280.0 / 814380, "best": 0.0},
			object{"value": "4:1", "groups": 1.0, "meanRatio": 1.0, "best": 1.0},
		}
		if diff := cmp.Diff(values, price["values"]); diff != "" || price["maxRatio"] != 1097280.0/814380 {
			t.Errorf("the price changes by %v (-want +got):\n%s", price, diff)
		}
	}
	lines := tableOf(t, user, path+"/analysis.csv")
	if len(lines) != 5 || lines[2][0] != "topologyConstraints.subscriptionRatio" || lines[2][1] != "4:1" || lines[2][7] != "1" || lines[2][8] != "1" || lines[2][12] != `{"workload.phases[0].dataSize":16777216}` {
		t.Errorf("the table of the analysis is %v", lines)
	}
	for query, optimal := range map[string][]string{"": {"true", "true", "true", "true"}, "?status=failed": {}} {
		lines := tableOf(t, user, path+"/results.csv"+query)
		column := map[string]int{}
		for i, name := range lines[0] {
			column[name] = i
		}
		flags := []string{}
		for _, line := range lines[1:] {
			flags = append(flags, line[column["paretoOptimal"]])
		}
		if diff := cmp.Diff(optimal, flags); diff != "" {
			t.Errorf("%s: the optimal points (-want +got):\n%s", query, diff)
		}
		if len(lines) > 1 && (lines[1][column["price"]] != "1097280" || lines[3][column["links"]] != "331") {
			t.Errorf("%s: the table is %v", query, lines)
		}
	}
	for format, formatted := range map[string]string{
		"/results.csv?": "/results?format=csv&", "/results.parquet?": "/results?format=parquet&", "/analysis.csv?": "/analysis?format=csv&",
	} {
		for _, status := range []string{"", "status=failed"} {
			if strings.HasPrefix(format, "/analysis") && status != "" {
				continue
			}
			own, asked := user.Get(path+format+status).Want(200), user.Get(path+formatted+status).Want(200)
			if mediaType := own.Header.Get("Content-Type"); !bytes.Equal(own.Body, asked.Body) || mediaType != asked.Header.Get("Content-Type") || len(own.Body) == 0 {
				t.Errorf("%s%s is %s with %d bytes, and %s%s not the same", format, status, mediaType, len(own.Body), formatted, status)
			}
		}
		p.User(t, servicetest.NewAccount()).Get(path+format).Refused(404, "NOT_FOUND")
		user.Get(path+format+"format=csv&format=csv").Refused(400, "VALIDATION_ERROR")
	}
	if table := user.Get(path + "/results.parquet").Want(200).Body; !bytes.HasPrefix(table, []byte("PAR1")) || !bytes.HasSuffix(table, []byte("PAR1")) {
		t.Errorf("the Parquet file is %q", table)
	}
	user.Get(path+"/analysis?format=xml").Refused(400, "VALIDATION_ERROR")
	p.User(t, servicetest.NewAccount()).Get(path+"/analysis").Refused(404, "NOT_FOUND")
}

func tableOf(t *testing.T, c *servicetest.Client, path string) [][]string {
	t.Helper()
	reply := c.Get(path).Want(200)
	lines, err := csv.NewReader(strings.NewReader(string(reply.Body))).ReadAll()
	if err != nil || reply.Header.Get("Content-Type") != "text/csv" {
		t.Fatalf("%s is %s %q (%v)", path, reply.Header.Get("Content-Type"), reply.Body, err)
	}
	return lines
}
