{{- define "netsim.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "netsim.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* Labels that never change, because selectors have them. */}}
{{- define "netsim.selector" -}}
app.kubernetes.io/name: netsim
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end }}

{{- define "netsim.labels" -}}
{{ include "netsim.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{/* The environment of a process: settings, and the paths of its files. */}}
{{- define "netsim.env" -}}
{{- range $name, $value := .settings }}
- {name: {{ $name }}, value: {{ $value | toString | quote }}}
{{- end }}
{{- range $name, $_ := .secrets }}
- {name: {{ $name }}_FILE, value: /etc/netsim/secrets/{{ $name }}}
{{- end }}
{{- range $name, $_ := .files }}
- {name: {{ $name }}, value: /etc/netsim/secrets/{{ $name }}}
{{- end }}
{{- end }}

{{/* The files of a process, from Secrets. */}}
{{- define "netsim.volumes" -}}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
      {{- range $name, $from := merge (deepCopy .secrets) .files }}
      - secret:
          name: {{ $from.secret }}
          items: [{key: {{ $from.key | quote }}, path: {{ $name }}}]
      {{- end }}
- name: temporary
  emptyDir: {sizeLimit: {{ .temporary }}}
{{- end }}

{{- define "netsim.mounts" -}}
- {name: secrets, mountPath: /etc/netsim/secrets, readOnly: true}
- {name: temporary, mountPath: /tmp}
{{- end }}

{{/* The profile "restricted" of the Pod Security Standards. 65532 is nonroot of distroless. */}}
{{- define "netsim.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "netsim.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* Where processes may connect to: what the values open, and other ports that settings name. */}}
{{- define "netsim.egress" -}}
{{- $np := .Values.networkPolicy }}
{{- $opened := list }}
{{- range $_, $rule := $np.egress }}
{{- range $rule.ports }}{{- $opened = append $opened (int .) }}{{- end }}
{{- end }}
{{- $named := list }}
{{- $all := list .Values.settings .Values.defaults.settings .Values.migrate.settings }}
{{- range $_, $p := .Values.processes }}{{- $all = append $all (dig "settings" dict (default dict $p)) }}{{- end }}
{{- range $settings := $all }}
{{- range $name := list "NETSIM_KAFKA" "NETSIM_KAFKA_OAUTH_TOKEN_URL" "NETSIM_S3_ENDPOINT" "NETSIM_OIDC_JWKS_URL" "NETSIM_OIDC_ISSUER" "NETSIM_CONSOLE_DISCOVERY_URL" "NETSIM_ENGINE_URLS" "NETSIM_SCHEMA_REGISTRY" "OTEL_EXPORTER_OTLP_ENDPOINT" "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" }}
{{- with get (default dict $settings) $name }}
{{- range $address := splitList "," (toString .) }}
{{- $host := regexReplaceAll "/.*$" (regexReplaceAll "^[a-z]+://" (trim $address) "") "" }}
{{- $port := int (default (ternary "80" "443" (hasPrefix "http://" (trim $address))) (trimPrefix ":" (regexFind ":[0-9]+$" $host))) }}
{{- if not (has $port (concat $opened $named)) }}{{- $named = append $named $port }}{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
- to: {{- toYaml $np.dns | nindent 4 }}
  ports: [{protocol: UDP, port: 53}, {protocol: TCP, port: 53}]
{{- with $named }}
- ports:
    {{- range . }}
    - {protocol: TCP, port: {{ . }}}
    {{- end }}
{{- end }}
{{- range $_, $rule := $np.egress }}
- ports:
    {{- range $rule.ports }}
    - {protocol: TCP, port: {{ . }}}
    {{- end }}
  {{- with $rule.to }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}
