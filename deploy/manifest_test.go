package deploy

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// manifest is what the tests read of an object of Kubernetes.
type manifest struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		Replicas    int
		PodSelector selector `yaml:"podSelector"`
		Selector    selector
		PolicyTypes []string `yaml:"policyTypes"`
		Ingress     []any
		Egress      []struct{ Ports []struct{ Port int } }
		Template    struct {
			Metadata struct{ Labels map[string]string }
			Spec     pod
		}
	}
}

type selector struct {
	MatchLabels map[string]string `yaml:"matchLabels"`
}

// selects reports whether the selector selects a pod with the labels.
func (s selector) selects(labels map[string]string) bool {
	for name, value := range s.MatchLabels {
		if labels[name] != value {
			return false
		}
	}
	return true
}

type pod struct {
	ServiceAccountName            string `yaml:"serviceAccountName"`
	AutomountServiceAccountToken  *bool  `yaml:"automountServiceAccountToken"`
	TerminationGracePeriodSeconds int64  `yaml:"terminationGracePeriodSeconds"`
	HostNetwork                   bool   `yaml:"hostNetwork"`
	HostPID                       bool   `yaml:"hostPID"`
	HostIPC                       bool   `yaml:"hostIPC"`
	SecurityContext               struct {
		RunAsNonRoot   bool                  `yaml:"runAsNonRoot"`
		RunAsUser      int                   `yaml:"runAsUser"`
		SeccompProfile struct{ Type string } `yaml:"seccompProfile"`
	} `yaml:"securityContext"`
	InitContainers []any `yaml:"initContainers"`
	Containers     []container
	Volumes        []map[string]yaml.Node
}

type container struct {
	Args            []string
	Env             []struct{ Name, Value string }
	Ports           []struct{ Name string }
	StartupProbe    probe `yaml:"startupProbe"`
	LivenessProbe   probe `yaml:"livenessProbe"`
	ReadinessProbe  probe `yaml:"readinessProbe"`
	SecurityContext struct {
		AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
		ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
		Privileged               bool
		Capabilities             struct{ Add, Drop []string }
	} `yaml:"securityContext"`
}

type probe struct {
	HTTPGet        struct{ Path, Port string } `yaml:"httpGet"`
	TimeoutSeconds int                         `yaml:"timeoutSeconds"`
}

// rendered returns the objects of the chart with a file of values, as Helm renders them.
// .ci/deploy/run compares the files with the chart.
func rendered(t *testing.T, values string) (all []manifest) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("check", "rendered", values+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var m manifest
		err := decoder.Decode(&m)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", values, err)
		}
		all = append(all, m)
	}
	if len(all) == 0 {
		t.Fatalf("the chart renders nothing with %s", values)
	}
	return all
}

// valueFiles are the files of values with which the chart is rendered.
func valueFiles(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("check", "values", "*.yaml"))
	if err != nil || len(files) < 5 {
		t.Fatalf("got the files of values %v (%v), want at least 5", files, err)
	}
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".yaml"))
	}
	return names
}

// secretsOf returns which key of which Secret is in each file of the pod's volume.
func (p pod) secretsOf(t *testing.T) map[string][2]string {
	t.Helper()
	files := map[string][2]string{}
	for _, v := range p.Volumes {
		node, is := v["projected"]
		if !is {
			continue
		}
		var projected struct {
			Sources []struct {
				Secret struct {
					Name  string
					Items []struct{ Key, Path string }
				}
			}
		}
		if err := node.Decode(&projected); err != nil {
			t.Fatal(err)
		}
		for _, source := range projected.Sources {
			for _, item := range source.Secret.Items {
				files[item.Path] = [2]string{source.Secret.Name, item.Key}
			}
		}
	}
	return files
}
