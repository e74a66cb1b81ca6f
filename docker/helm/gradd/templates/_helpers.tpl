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
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ if .Values.gpu.enabled }}-cuda{{ end }}{{ if .Values.cluster.enabled }}-ray{{ end }}
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

{{- define "gradd.claim" -}}
{{- .Values.persistence.existingClaim | default (printf "data-%s-0" (include "gradd.fullname" .)) }}
{{- end }}

{{- /* How a container reaches the object store that has the sessions. */ -}}
{{- define "gradd.storeSecret" -}}
{{- if and .Values.cluster.enabled .Values.cluster.records.secret }}
envFrom:
  - secretRef:
      name: {{ .Values.cluster.records.secret }}
{{- end }}
{{- end }}

{{- /* What a pod's user is: the one whom the data belongs to. */ -}}
{{- define "gradd.user" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
# Not at each start: it would open the daemon's files to the group.
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- /* What Ray is told in each of its pods. Without the mode it asks nobody for the token. */ -}}
{{- define "gradd.ray" -}}
- name: RAY_AUTH_MODE
  value: token
- name: RAY_AUTH_TOKEN
  valueFrom:
    secretKeyRef:
      name: {{ required "cluster.tokenSecret: the Secret that has the Ray cluster's token as auth_token" .Values.cluster.tokenSecret }}
      key: auth_token
- name: RAY_USAGE_STATS_ENABLED
  value: "0"
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

{{- define "gradd.url" -}}
{{ include "gradd.scheme" . }}://{{ include "gradd.fullname" . }}.{{ .Release.Namespace }}.svc:{{ .Values.service.port }}
{{- end }}

{{- /* What the pods of a Ray cluster have in common, and their containers. */ -}}
{{- define "gradd.rayPod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- include "gradd.user" . | nindent 2 }}
{{- end }}

{{- define "gradd.rayContainer" -}}
image: {{ include "gradd.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  {{- include "gradd.locked" . | nindent 2 }}
{{- end }}

{{- /* At a port. KubeRay's own probes ask Ray's dashboard agent, which the image does not have. */ -}}
{{- define "gradd.rayProbes" -}}
livenessProbe:
  tcpSocket:
    port: {{ . }}
  initialDelaySeconds: 60
  periodSeconds: 10
  failureThreshold: 6
readinessProbe:
  tcpSocket:
    port: {{ . }}
  periodSeconds: 5
{{- end }}
