{{- define "gatewright.fullname" -}}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride }}
{{- else if contains .Chart.Name .Release.Name }}{{ .Release.Name }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name }}
{{- end }}
{{- end }}

{{- define "gatewright.controller" -}}
{{ printf "%s-controller" (include "gatewright.fullname" . | trunc 52 | trimSuffix "-") }}
{{- end }}

{{- /* With its certificate. */}}
{{- define "gatewright.secret" -}}
{{ .Values.tls.secretName | default (printf "%s-authority" (include "gatewright.controller" .)) }}
{{- end }}

{{- define "gatewright.account" -}}
{{ .Values.serviceAccount.name | default (include "gatewright.controller" .) }}
{{- end }}

{{- define "gatewright.selector" -}}
app.kubernetes.io/name: gatewright
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: controller
{{- end }}

{{- define "gatewright.labels" -}}
{{ include "gatewright.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* The subject of all bindings. */}}
{{- define "gatewright.subjects" -}}
subjects:
  - kind: ServiceAccount
    name: {{ include "gatewright.account" . }}
    namespace: {{ .Release.Namespace }}
{{- end }}

{{- define "gatewright.tag" -}}
{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
