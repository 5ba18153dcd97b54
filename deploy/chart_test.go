package deploy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"netsim/cmd/settings"
	"netsim/infra/health"
)

// TestChartGivesSettingsThatTheServiceTakes: the environment of every container is valid
// for the service, has no secret in it, and leaves the process enough time to end. The
// processes make nothing by themselves, all roles run, and the job makes what they need.
func TestChartGivesSettingsThatTheServiceTakes(t *testing.T) {
	t.Parallel()
	for _, values := range valueFiles(t) {
		var run, made []string
		for _, m := range rendered(t, values) {
			if m.Kind != "Deployment" && m.Kind != "Job" {
				continue
			}
			p := m.Spec.Template.Spec
			c := settingsOf(t, p)
			if m.Kind == "Job" {
				made = append(made, c.Roles...)
				continue
			}
			run = append(run, c.Roles...)
			if c.Migrate {
				t.Errorf("%s: %s makes topics and tables by itself", values, m.Metadata.Name)
			}
			grace := time.Duration(p.TerminationGracePeriodSeconds) * time.Second
			if least := c.Drain + c.Grace + 10*time.Second; grace < least {
				t.Errorf("%s: %s is killed after %v, want at least %v", values, m.Metadata.Name, grace, least)
			}
			probes := p.Containers[0]
			for path, probe := range map[string]probe{"/livez": probes.LivenessProbe, "/livez ": probes.StartupProbe, "/readyz": probes.ReadinessProbe} {
				if least := health.Timeout + time.Second; time.Duration(probe.TimeoutSeconds)*time.Second < least {
					t.Errorf("%s: %s waits %d s for %s, which takes up to %v", values, m.Metadata.Name, probe.TimeoutSeconds, path, health.Timeout)
				}
				if probe.HTTPGet.Port != "ops" || probe.HTTPGet.Path != strings.TrimSpace(path) {
					t.Errorf("%s: %s has the probe %+v, want %s of the operations listener", values, m.Metadata.Name, probe.HTTPGet, path)
				}
			}
		}
		all := []string{settings.RoleAPI, settings.RoleLake, settings.RoleProjector, settings.RolePublisher, settings.RoleReactor, settings.RoleWorker}
		slices.Sort(run)
		slices.Sort(made)
		if archives := slices.Contains(run, settings.RoleArchiver); archives != slices.Contains([]string{"everything", "local"}, values) {
			t.Errorf("%s: a process has the role archiver: %v", values, archives)
		}
		run = slices.DeleteFunc(run, func(role string) bool { return role == settings.RoleArchiver }) // needs nothing that the job makes
		if !slices.Equal(slices.Compact(run), all) || !slices.Equal(made, all) {
			t.Errorf("%s: processes have the roles %v, and the job makes what %v need; want %v", values, run, made, all)
		}
	}
}

// settingsOf returns the settings of a pod, with files in place of its Secrets.
func settingsOf(t *testing.T, p pod) settings.Config {
	t.Helper()
	dir, environment := t.TempDir(), map[string]string{}
	secrets := p.secretsOf(t)
	for _, e := range p.Containers[0].Env {
		if slices.Contains([]string{"NETSIM_POSTGRES", "NETSIM_WRITER_KEYS", "NETSIM_S3_ACCESS_KEY", "NETSIM_S3_SECRET_KEY"}, e.Name) {
			t.Errorf("the environment of a process has the secret %s", e.Name)
		}
		if name, is := strings.CutPrefix(e.Value, "/etc/netsim/secrets/"); is {
			if _, is := secrets[name]; !is {
				t.Errorf("%s is %s, which no volume has", e.Name, e.Value)
			}
			value := map[string]string{"NETSIM_POSTGRES": "postgres://netsim@postgres/netsim", "NETSIM_WRITER_KEYS": strings.Repeat("5e", 32)}[name]
			e.Value = filepath.Join(dir, name)
			if err := os.WriteFile(e.Value, []byte(cmp.Or(value, "text")), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		environment[e.Name] = e.Value
	}
	c, err := settings.FromVariables(environment)
	if err != nil {
		t.Error(err)
	}
	return c
}

// TestPodsAreRestricted: each pod meets the profile "restricted" of the Pod Security
// Standards (https://kubernetes.io/docs/concepts/security/pod-security-standards/), has a
// read-only root file system, and no token of the cluster.
func TestPodsAreRestricted(t *testing.T) {
	t.Parallel()
	for _, values := range valueFiles(t) {
		for _, m := range rendered(t, values) {
			if m.Kind != "Deployment" && m.Kind != "Job" {
				continue
			}
			p := m.Spec.Template.Spec
			unfit := func(broken bool, rule string) {
				t.Helper()
				if broken {
					t.Errorf("%s: %s %s: %s", values, m.Kind, m.Metadata.Name, rule)
				}
			}
			unfit(p.HostNetwork || p.HostPID || p.HostIPC, "shares a namespace with its host")
			unfit(!p.SecurityContext.RunAsNonRoot || p.SecurityContext.RunAsUser == 0, "may run as root")
			unfit(p.SecurityContext.SeccompProfile.Type != "RuntimeDefault", "has no seccomp profile")
			unfit(p.AutomountServiceAccountToken == nil || *p.AutomountServiceAccountToken, "gets a token of the cluster")
			unfit(len(p.Containers) != 1 || len(p.InitContainers) != 0, "has containers that this test does not judge")
			for _, v := range p.Volumes {
				for kind := range v {
					unfit(!slices.Contains([]string{"name", "projected", "emptyDir", "configMap", "secret", "downwardAPI", "csi", "ephemeral", "persistentVolumeClaim"}, kind), "has a volume of the kind "+kind)
				}
			}
			for _, c := range p.Containers {
				s := c.SecurityContext
				unfit(s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || s.Privileged, "may gain privileges")
				unfit(!slices.Equal(s.Capabilities.Drop, []string{"ALL"}) || len(s.Capabilities.Add) != 0, "keeps capabilities")
				unfit(!s.ReadOnlyRootFilesystem, "can write to its root file system")
			}
		}
	}
}

// TestNetworkPoliciesDenyWhatIsNotNeeded: every pod is selected for both directions. Only
// pods with the role api take requests, and only Prometheus, if the values name it, reads
// metrics.
func TestNetworkPoliciesDenyWhatIsNotNeeded(t *testing.T) {
	t.Parallel()
	for _, values := range valueFiles(t) {
		if values == "minimal" { // turns them off
			continue
		}
		all := rendered(t, values)
		for _, m := range all {
			if m.Kind != "Deployment" && m.Kind != "Job" {
				continue
			}
			labels := m.Spec.Template.Metadata.Labels
			denied, inbound := map[string]bool{}, 0
			for _, policy := range all {
				if policy.Kind != "NetworkPolicy" || !policy.Spec.PodSelector.selects(labels) {
					continue
				}
				for _, direction := range policy.Spec.PolicyTypes {
					denied[direction] = true
				}
				inbound += len(policy.Spec.Ingress)
			}
			want := 0
			if labels["app.kubernetes.io/component"] == "api" {
				want++
			}
			if values == "everything" { // names Prometheus
				want++
			}
			if !denied["Ingress"] || !denied["Egress"] || inbound != want {
				t.Errorf("%s: %s: denied by default %v, %d rules let connections in; want both directions and %d rules", values, m.Metadata.Name, denied, inbound, want)
			}
		}
	}
}

// TestNetworkPoliciesOpenWhatSettingsName: every pod may connect to the port of each server that
// its settings name.
func TestNetworkPoliciesOpenWhatSettingsName(t *testing.T) {
	t.Parallel()
	for _, values := range valueFiles(t) {
		if values == "minimal" { // turns them off
			continue
		}
		all := rendered(t, values)
		for _, m := range all {
			if m.Kind != "Deployment" && m.Kind != "Job" {
				continue
			}
			open := map[string]bool{}
			for _, policy := range all {
				if policy.Kind == "NetworkPolicy" && policy.Spec.PodSelector.selects(m.Spec.Template.Metadata.Labels) {
					for _, rule := range policy.Spec.Egress {
						for _, p := range rule.Ports {
							open[fmt.Sprint(p.Port)] = true
						}
					}
				}
			}
			c := settingsOf(t, m.Spec.Template.Spec)
			for _, address := range slices.Concat(c.Kafka, c.EngineURLs, []string{c.S3Endpoint, c.JWKS, c.Issuer, c.ConsoleDiscovery, c.SchemaRegistry, c.KafkaTokenURL, c.TracesURL()}) {
				if !strings.Contains(address, "://") {
					address = "kafka://" + address
				}
				u, err := url.Parse(address)
				if err != nil {
					t.Fatal(err)
				}
				port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
				if u.Host != "" && !open[port] {
					t.Errorf("%s: %s may not connect to %s: its policies open %v", values, m.Metadata.Name, address, slices.Sorted(maps.Keys(open)))
				}
			}
		}
	}
}

// TestEveryProcessHasABudgetAndAnAccount: one disruption budget selects the pods of each
// Deployment, which has a service account of its own.
func TestEveryProcessHasABudgetAndAnAccount(t *testing.T) {
	t.Parallel()
	for _, values := range valueFiles(t) {
		all := rendered(t, values)
		for _, m := range all {
			if m.Kind != "Deployment" {
				continue
			}
			budgets, accounts := 0, 0
			for _, other := range all {
				switch {
				case other.Kind == "PodDisruptionBudget" && other.Spec.Selector.selects(m.Spec.Template.Metadata.Labels):
					budgets++
				case other.Kind == "ServiceAccount" && other.Metadata.Name == m.Spec.Template.Spec.ServiceAccountName:
					accounts++
				}
			}
			if budgets != 1 || accounts != 1 || !m.Spec.Selector.selects(m.Spec.Template.Metadata.Labels) {
				t.Errorf("%s: %s has %d budgets and %d accounts, want one each", values, m.Metadata.Name, budgets, accounts)
			}
		}
	}
}

// TestValuesTakeNoSecrets: the schema of the values refuses every secret setting, so that
// none is in the release that Helm stores, or in the environment of a process.
func TestValuesTakeNoSecrets(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("chart", "values.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Defs struct {
			Settings struct {
				PropertyNames struct {
					Not struct{ Enum []string }
				}
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	refused := schema.Defs.Settings.PropertyNames.Not.Enum
	for _, s := range settings.All() {
		if s.Secret && !slices.Contains(refused, s.Variable) {
			t.Errorf("values.schema.json lets settings have the secret %s", s.Variable)
		}
	}
}
