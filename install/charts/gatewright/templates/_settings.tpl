{{- /* Environment variables of the controller, by name. */}}
{{- define "gatewright.settings" -}}
GATEWRIGHT_CONTROLLER_NAME: {{ .Values.controllerName | quote }}
GATEWRIGHT_CLASS_NAME: {{ .Values.gatewayClass.name | quote }}
GATEWRIGHT_CONTROLLER_SERVICE: {{ include "gatewright.controller" . | quote }}
{{- $image := mergeOverwrite (dict) (omit .Values.image "digest" "pullPolicy") (dict "tag" (include "gatewright.tag" .)) .Values.proxyImage }}
GATEWRIGHT_PROXY_IMAGE_REGISTRY: {{ $image.registry | quote }}
GATEWRIGHT_PROXY_IMAGE_REPOSITORY: {{ $image.repository | quote }}
GATEWRIGHT_PROXY_IMAGE_TAG: {{ $image.tag | quote }}
GATEWRIGHT_LOG_LEVEL: {{ .Values.log.level | quote }}
GATEWRIGHT_LOG_FORMAT: {{ .Values.log.format | quote }}
{{- with .Values.tls.secretName }}
GATEWRIGHT_CONTROLLER_CERTIFICATE_SECRET: {{ . | quote }}
{{- end }}
{{- with .Values.tls.life }}
GATEWRIGHT_CONTROLLER_CERTIFICATE_LIFE: {{ . | quote }}
{{- end }}
{{- with .Values.namespaces }}
GATEWRIGHT_NAMESPACES: {{ join "," . | quote }}
{{- end }}
{{- end }}
