package observe

import (
	"encoding/json"
	"fmt"
)

//go:generate go run ./internal/write dashboard.json
//go:generate cp rules.yaml ../chart/rules.yaml

// panel is a graph of the dashboard.
type panel struct {
	title   string
	help    string // shown with the title
	unit    string // a unit of Grafana
	queries []query
}

// query is an expression of PromQL and the name of its series, a template of Grafana.
type query struct{ expression, legend string }

// row is a group of panels, beside each other.
type row struct {
	title  string
	panels []panel
}

const (
	seconds, bytes, count, perSecond, ratio, days = "s", "bytes", "short", "ops", "percentunit", "d"
	every                                         = `{job="$job"}`
)

// quantiles returns the median and the 99th percentile of a histogram of requests.
func quantiles(method string) []query {
	of := func(q string) string {
		return fmt.Sprintf(`histogram_quantile(%s, sum by (le) (rate(http_server_request_duration_seconds_bucket{job="$job", http_request_method=~"%s", http_response_status_code!~"0|5..", http_route!~".*/(events|validate|complete)"}[$__rate_interval])))`, q, method)
	}
	return []query{{of("0.5"), "p50"}, {of("0.99"), "p99"}}
}

// rows lists the panels: first what users feel, then where it comes from.
func rows() []row {
	return []row{
		{"What users feel", []panel{
			{"Alerts", "Alerts that fire.", count, []query{{`sum by (alertname, severity) (ALERTS{alertname=~"Netsim.*", alertstate="firing"}) or vector(0)`, "{{alertname}} {{severity}}"}}},
			{"Errors", "Requests that are answered with 5xx. The objective is 0.1 %.", ratio, []query{{`netsim:request_errors:ratio_rate5m`, "5xx"}}},
			{"Writes", "Duration of writes. The objective is 1 s for 99 %.", seconds, quantiles("POST|PUT|PATCH|DELETE")},
			{"Reads", "Duration of reads. The objective is 512 ms for 99 %.", seconds, quantiles("GET")},
		}},
		{"Requests", []panel{
			{"Requests by status", "", perSecond, []query{{`sum by (http_response_status_code) (rate(http_server_request_duration_seconds_count{job="$job"}[$__rate_interval]))`, "{{http_response_status_code}}"}}},
			{"Slow routes", "99th percentile of the ten slowest routes.", seconds, []query{{`topk(10, histogram_quantile(0.99, sum by (le, http_request_method, http_route) (rate(http_server_request_duration_seconds_bucket{job="$job"}[$__rate_interval]))))`, "{{http_request_method}} {{http_route}}"}}},
			{"Not admitted", "Requests beyond an account's quota (RATE_LIMITED) or beyond the process's slots.", perSecond, []query{{`sum by (class, code) (rate(netsim_http_refused_total` + every + `[$__rate_interval]))`, "{{class}} {{code}}"}}},
			{"Slots in use", "Share of the slots of each class.", ratio, []query{{`max by (class) (netsim_http_slots_used` + every + ` / netsim_http_slots)`, "{{class}}"}}},
			{"Commands", "Commands by outcome.", perSecond, []query{{`sum by (outcome) (rate(netsim_command_duration_seconds_count` + every + `[$__rate_interval]))`, "{{outcome}}"}}},
			{"Feeds and streams", "Clients that follow events, simulations or studies.", count, []query{
				{`sum(netsim_feed_clients` + every + `)`, "feeds"}, {`sum(netsim_streams_open` + every + `)`, "simulations and studies"},
			}},
		}},
		{"The log and the read model", []panel{
			{"Projection lag", "Age of the oldest record that is not applied.", seconds, []query{{`max by (family) (netsim_projector_lag_seconds` + every + `)`, "{{family}}"}}},
			{"Records judged", "", perSecond, []query{{`sum by (verdict) (rate(netsim_projector_records_total` + every + `[$__rate_interval]))`, "{{verdict}}"}}},
			{"Appends", "99th percentile of appends to the log.", seconds, []query{{`histogram_quantile(0.99, sum by (le, outcome) (rate(netsim_log_append_duration_seconds_bucket` + every + `[$__rate_interval])))`, "{{outcome}}"}}},
			{"Parked streams and dead letters", "Facts that wait for an operator.", count, []query{
				{`max(netsim_projector_parked_streams` + every + `)`, "parked streams"}, {`max by (handler) (netsim_dead_letters_open` + every + `) > 0`, "dead letters of {{handler}}"},
			}},
			{"Reaction lag", "Age of the oldest fact that a reaction has not processed.", seconds, []query{{`max by (handler) (netsim_reaction_lag_seconds` + every + `)`, "{{handler}}"}}},
			{"Log checkpoint and accrual", "Time since the newest checkpoint was signed, and since the last day whose costs are booked.", seconds, []query{
				{`max(netsim_log_checkpoint_age_seconds` + every + `)`, "checkpoint"}, {`max(netsim_billing_accrual_age_seconds` + every + `)`, "accrual"},
			}},
		}},
		{"Runs and jobs", []panel{
			{"Runs", "Simulations that have not ended.", count, []query{{`max by (engine, state) (netsim_runs` + every + `)`, "{{state}} {{engine}}"}, {`max(netsim_runs_stalled` + every + `)`, "stalled"}}},
			{"Ended runs", "In an hour.", count, []query{{`sum by (outcome) (increase(netsim_runs_ended_total` + every + `[1h]))`, "{{outcome}}"}}},
			{"Oldest job", "Time since the oldest job that is to be done now was enqueued.", seconds, []query{{`max by (kind) (netsim_jobs_oldest_seconds{job="$job", state=~"available|pending|retryable"})`, "{{kind}}"}}},
			{"Jobs", "", count, []query{{`max by (kind, state) (netsim_jobs` + every + `)`, "{{kind}} {{state}}"}}},
		}},
		{"What leaves the service", []panel{
			{"Public topics", "Age of the oldest fact that is not published.", seconds, []query{{`max(netsim_publisher_lag_seconds` + every + `)`, "lag"}}},
			{"Published facts", "", perSecond, []query{{`sum by (family) (rate(netsim_publisher_facts_total` + every + `[$__rate_interval]))`, "{{family}}"}}},
			{"Lake", "Age of the oldest record that waits for the next snapshot.", seconds, []query{{`max(netsim_lake_lag_seconds` + every + `)`, "lag"}}},
			{"Archive of the log", "A loss of all brokers loses the records of this time.", seconds, []query{{`max(netsim_archive_lag_seconds` + every + `)`, "lag"}}},
			{"Schemas missing in the registry", "", count, []query{{`max(netsim_schema_registry_schemas{job="$job", state="missing"})`, "missing"}}},
		}},
		{"Webhooks", []panel{
			{"Attempts", "Deliveries to webhooks by outcome. Those that failed are repeated, dropped ones were the last.", perSecond, []query{{`sum by (outcome) (rate(netsim_webhooks_attempts_total` + every + `[$__rate_interval]))`, "{{outcome}}"}}},
			{"Waiting messages", "Messages that wait for delivery, and attempts that wait for an answer.", count, []query{
				{`sum(netsim_webhooks_messages` + every + `)`, "waiting"}, {`sum(netsim_webhooks_sending` + every + `)`, "sending"},
			}},
			{"Webhooks", "Active webhooks, and those with so many messages that no more are read.", count, []query{
				{`sum(netsim_webhooks_active` + every + `)`, "active"}, {`sum(netsim_webhooks_full` + every + `)`, "full"},
			}},
			{"Disabled webhooks and failures", "In an hour. Failures are those of the delivering itself.", count, []query{
				{`sum(increase(netsim_webhooks_disabled_total` + every + `[1h]))`, "disabled"}, {`sum(increase(netsim_webhooks_failures_total` + every + `[1h]))`, "failures"},
			}},
		}},
		{"Surroundings", []panel{
			{"Failing checks", "Processes whose check of /readyz fails or warns.", count, []query{{`sum by (check) (netsim_check_failing` + every + `) > 0 or vector(0)`, "{{check}}"}}},
			{"PostgreSQL", "99th percentile of calls.", seconds, []query{{`histogram_quantile(0.99, sum by (le, db_operation_name) (rate(db_client_operation_duration_seconds_bucket` + every + `[$__rate_interval])))`, "{{db_operation_name}}"}}},
			{"Database sessions in use", "Share of each pool.", ratio, []query{{`max by (instance, db_client_connection_pool_name) (db_client_connections{job="$job", db_client_connection_state="used"} / ignoring (db_client_connection_state) db_client_connections_max)`, "{{instance}} {{db_client_connection_pool_name}}"}}},
			{"Object store", "Calls by error; none on success.", perSecond, []query{{`sum by (operation, error_type) (rate(netsim_object_store_operation_duration_seconds_count` + every + `[$__rate_interval]))`, "{{operation}} {{error_type}}"}}},
			{"Certificates", "Days until the first certificate of a peer expires.", days, []query{{`(min by (peer) (netsim_certificate_expiry_timestamp_seconds` + every + `) - time()) / 86400`, "{{peer}}"}}},
			{"Keys of the token issuer", "Time since they were fetched.", seconds, []query{{`max(netsim_jwks_age_seconds` + every + `)`, "age"}}},
		}},
		{"Processes", []panel{
			{"Ready", "Processes that are ready, by role.", count, []query{{`sum by (role) (netsim_ready` + every + `)`, "{{role}}"}}},
			{"Memory", "Resident memory.", bytes, []query{{`process_resident_memory_bytes` + every, "{{instance}}"}, {`netsim_memory_limit_bytes` + every, "limit of {{instance}}"}}},
			{"CPU", "Cores in use.", count, []query{{`rate(process_cpu_seconds_total` + every + `[$__rate_interval])`, "{{instance}}"}}},
			{"Goroutines", "", count, []query{{`go_goroutines` + every, "{{instance}}"}}},
		}},
	}
}

type object = map[string]any

// Dashboard returns the text of dashboard.json, which Grafana 10 and later can provision
// or import. Its variables are the data source and the job.
func Dashboard() ([]byte, error) {
	source := object{"type": "prometheus", "uid": "${datasource}"}
	panels, y, id := []object{}, 0, 0
	const width, height, columns = 6, 8, 4
	for _, r := range rows() {
		id++
		panels = append(panels, object{
			"id": id, "type": "row", "title": r.title, "collapsed": false, "panels": []object{},
			"gridPos": object{"x": 0, "y": y, "w": width * columns, "h": 1},
		})
		y++
		for i, p := range r.panels {
			id++
			targets := []object{}
			for n, q := range p.queries {
				targets = append(targets, object{
					"refId": string(rune('A' + n)), "datasource": source, "expr": q.expression, "legendFormat": q.legend, "range": true,
				})
			}
			panels = append(panels, object{
				"id": id, "type": "timeseries", "title": p.title, "description": p.help, "datasource": source, "targets": targets,
				"gridPos":     object{"x": i % columns * width, "y": y + i/columns*height, "w": width, "h": height},
				"fieldConfig": object{"defaults": object{"unit": p.unit, "min": 0, "custom": object{"fillOpacity": 10}}, "overrides": []object{}},
				"options": object{
					"legend":  object{"displayMode": "list", "placement": "bottom", "showLegend": true},
					"tooltip": object{"mode": "multi", "sort": "desc"},
				},
			})
		}
		y += (len(r.panels) + columns - 1) / columns * height
	}
	text, err := json.MarshalIndent(object{
		"uid": "netsim", "title": "netsim", "description": "What users of netsim feel, and where it comes from.", "tags": []string{"netsim"},
		"schemaVersion": 39, "version": 1, "editable": true, "graphTooltip": 1, "refresh": "30s", "timezone": "browser",
		"time": object{"from": "now-3h", "to": "now"}, "panels": panels,
		"annotations": object{"list": []object{}},
		"links":       []object{},
		"templating": object{"list": []object{
			{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus", "current": object{}, "hide": 0},
			{
				"name": "job", "label": "Job", "type": "query", "datasource": source, "refresh": 2, "hide": 0, "sort": 1,
				"query":   object{"query": "label_values(netsim_build_info, job)", "refId": "job"},
				"current": object{"text": "netsim", "value": "netsim"},
			},
		}},
	}, "", "  ")
	return append(text, '\n'), err
}
