{{- define "gradd.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 52 | trimSuffix "-" }}
{{- end }}

{{- define "gradd.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else if contains (include "gradd.name" .) .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "gradd.name" .) | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "gradd.selector" -}}
app.kubernetes.io/name: {{ include "gradd.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gradd.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{ include "gradd.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "gradd.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ if .Values.gpu.enabled }}-cuda{{ end }}
{{- end }}

{{- define "gradd.keysSecret" -}}
{{- .Values.keys.existingSecret | default (printf "%s-keys" (include "gradd.fullname" .)) }}
{{- end }}

{{- define "gradd.hasKeys" -}}
{{- if or .Values.keys.file .Values.keys.existingSecret }}true{{ end }}
{{- end }}

{{- define "gradd.scheme" -}}
{{ ternary "https" "http" (ne .Values.tls.secretName "") }}
{{- end }}

{{- /* What may stand in Host: the Service's names, the pod's own for scrapes, and what the values say. */ -}}
{{- define "gradd.hosts" -}}
{{- $name := include "gradd.fullname" . -}}
{{- $service := printf "%s.%s" $name .Release.Namespace -}}
{{- $names := list $name $service (printf "%s.svc" $service) (printf "%s.svc.cluster.local" $service) "$(POD_IP)" -}}
{{- join "," (concat $names (.Values.allowedHosts | default list)) -}}
{{- end }}

{{- define "gradd.locked" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- /* Of the root and a path. Host is checked in probes, too. */ -}}
{{- define "gradd.probe" -}}
httpGet:
  path: {{ index . 1 }}
  port: api
  scheme: {{ include "gradd.scheme" (index . 0) | upper }}
  httpHeaders:
    - name: Host
      value: localhost
timeoutSeconds: 10
{{- end }}
