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

{{/* Where processes may connect to. */}}
{{- define "netsim.egress" -}}
- to: {{- toYaml .dns | nindent 4 }}
  ports: [{protocol: UDP, port: 53}, {protocol: TCP, port: 53}]
{{- range $_, $rule := .egress }}
- ports:
    {{- range $rule.ports }}
    - {protocol: TCP, port: {{ . }}}
    {{- end }}
  {{- with $rule.to }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}
