//go:build tools

package observe_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// shorter is by how much the tests of alerts divide every duration of the rules: the
// windows in square brackets and the times after "for". Nothing else of the rules
// changes. Five minutes become ten seconds.
const shorter = 30

var window = regexp.MustCompile(`\[([0-9]+[smhd])\]`)

// scaled returns the rules with every duration divided.
func scaled(t *testing.T, rules ruleFile) []byte {
	t.Helper()
	divide := func(text string) string {
		unit := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}[text[len(text)-1]]
		var n int64
		if _, err := fmt.Sscanf(text[:len(text)-1], "%d", &n); err != nil || unit == 0 {
			t.Fatalf("the duration %q is not a number with one of the units s, m, h, d", text)
		}
		return fmt.Sprintf("%dms", (time.Duration(n) * unit / shorter).Milliseconds())
	}
	for i := range rules.Groups {
		for j := range rules.Groups[i].Rules {
			r := &rules.Groups[i].Rules[j]
			r.Expr = window.ReplaceAllStringFunc(r.Expr, func(found string) string { return "[" + divide(found[1:len(found)-1]) + "]" })
			if r.For != "" {
				r.For = divide(r.For)
			}
		}
	}
	text, err := yaml.Marshal(rules)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// prometheus is a Prometheus server that scrapes processes of netsim and evaluates the
// scaled rules every second.
type prometheus struct {
	t   *testing.T
	url string
}

// startPrometheus starts a server that scrapes the addresses, until the test ends. The
// interval of scrapes is not scaled, because a scrape may take 2.5 s.
func startPrometheus(t *testing.T, targets []string) *prometheus {
	t.Helper()
	dir := t.TempDir()
	config, err := yaml.Marshal(map[string]any{
		"global": map[string]any{
			"scrape_interval": "3s", "scrape_timeout": "3s", "evaluation_interval": "1s",
			"external_labels": map[string]string{"runbooks": "https://wiki.example/netsim"},
		},
		"rule_files":     []string{"rules.yaml"},
		"scrape_configs": []any{map[string]any{"job_name": "netsim", "static_configs": []any{map[string]any{"targets": targets}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("prometheus.yaml", config)
	address := teststack.FreeAddress(t)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command("prometheus", "--config.file="+filepath.Join(dir, "prometheus.yaml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+address, "--web.enable-lifecycle", "--query.lookback-delta=10s", "--log.level=warn")
	child.Stdout, child.Stderr = log, log
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := child.Start(); err != nil {
		t.Fatalf("Prometheus is needed (Debian: prometheus): %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	t.Cleanup(func() {
		child.Process.Kill() //nolint:errcheck // it may have ended
		testwait.Receive(t, ended, "Prometheus to end")
		if t.Failed() {
			text, _ := os.ReadFile(log.Name()) //nolint:errcheck // it is only shown
			t.Logf("the log of Prometheus:\n%s", text)
		}
	})
	p := &prometheus{t, "http://" + address}
	testworld.Await(t, func() bool {
		reply, err := http.Get(p.url + "/-/ready")
		if err != nil {
			return false
		}
		reply.Body.Close()
		return reply.StatusCode == http.StatusOK
	})
	// The rules come when everything has been scraped: an alert that waits for two minutes
	// in life waits for little more than the interval of scrapes here.
	testworld.Await(t, func() bool {
		found, err := p.query("sum(up) + count(count by (role) (netsim_ready))")
		return err == nil && len(found) == 1 && found[0].Value[1] == strconv.Itoa(2*len(targets))
	})
	write("rules.yaml", scaled(t, readRules(t)))
	reply, err := http.Post(p.url+"/-/reload", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		t.Fatalf("Prometheus refuses the rules with the status %d", reply.StatusCode)
	}
	return p
}

// get decodes the member data of the reply to a query of Prometheus' API.
func (p *prometheus) get(path string, query url.Values, into any) error {
	p.t.Helper()
	reply, err := http.Get(p.url + "/api/v1/" + path + "?" + query.Encode())
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	var answer struct {
		Status, Error string
		Data          json.RawMessage
	}
	if err := json.NewDecoder(reply.Body).Decode(&answer); err != nil {
		return err
	}
	if answer.Status != "success" {
		return fmt.Errorf("Prometheus answers %s: %s", answer.Status, answer.Error)
	}
	return json.Unmarshal(answer.Data, into)
}

// sample is a value of a query's result.
type sample struct {
	Metric map[string]string
	Value  [2]any // time, and the value as a string
}

// query returns the result of an expression that is a vector.
func (p *prometheus) query(expression string) ([]sample, error) {
	p.t.Helper()
	var found struct{ Result []sample }
	err := p.get("query", url.Values{"query": {expression}}, &found)
	return found.Result, err
}

// firing returns the alerts that fire, as name/severity, and what they say.
func (p *prometheus) firing() map[string]string {
	p.t.Helper()
	var found struct {
		Alerts []struct {
			Labels, Annotations map[string]string
			State               string
		}
	}
	if err := p.get("alerts", nil, &found); err != nil {
		p.t.Fatal(err)
	}
	names := map[string]string{}
	for _, a := range found.Alerts {
		if a.State != "firing" {
			continue
		}
		name := a.Labels["alertname"] + "/" + a.Labels["severity"]
		names[name] = strings.TrimSpace(a.Annotations["summary"] + " " + a.Annotations["description"])
		for key, text := range a.Annotations {
			if strings.Contains(text, "<no value>") || strings.Contains(text, "error") && strings.Contains(text, "template") {
				p.t.Errorf("%s: the annotation %s is %q", name, key, text)
			}
		}
	}
	return names
}

// mayBeEmpty lists panels without data while nothing is refused and no job waits.
var mayBeEmpty = []string{"Not admitted", "Oldest job", "Jobs"}

// dashboardHasData fails the test if Prometheus refuses a query of the dashboard, or if
// none of a panel's queries returns data within a minute. A process that is busy may be too
// late for a scrape, and Prometheus then has no recent value of it.
func (s *site) dashboardHasData() {
	s.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for _, p := range readDashboard(s.t) {
		if p.Type == "row" {
			continue
		}
		for ; !s.hasData(p) && !slices.Contains(mayBeEmpty, p.Title); s.pause() {
			if time.Now().After(deadline) {
				s.t.Errorf("no query of the panel %s returns data", p.Title)
				break
			}
		}
	}
}

// hasData sends all queries of a panel and reports whether one returns data.
func (s *site) hasData(p panel) (found bool) {
	s.t.Helper()
	for _, q := range p.Targets {
		samples, err := s.prometheus.query(plain(q.Expr))
		if err != nil {
			s.t.Errorf("the query of %s fails: %v: %s", p.Title, err, q.Expr)
		}
		found = found || len(samples) > 0
	}
	return found
}
