// Package observe has what watches a deployment: the rules and alerts of Prometheus
// (rules.yaml), an example of its configuration (prometheus.yaml), and Grafana's
// dashboard (dashboard.json), which this package generates. docs/runbook.md has a
// section for each alert.
package observe
