{{- define "fleet-addon.labels" -}}
app.kubernetes.io/name: fleet-addon
app.kubernetes.io/part-of: fleet-addon
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "fleet-addon.selector" -}}
app.kubernetes.io/name: fleet-addon
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: manager
{{- end }}

{{- define "fleet-addon.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "fleet-addon.agentImage" -}}
{{ .Values.agent.image | default (include "fleet-addon.image" .) }}
{{- end }}

{{/* Another version is another object: clusters whose turn has not come keep theirs. */}}
{{- define "fleet-addon.agentConfig" -}}
fleet-agent-{{ .Chart.AppVersion }}
{{- end }}

{{- define "fleet-addon.placementNamespace" -}}
{{ .Values.placement.namespace | default .Release.Namespace }}
{{- end }}

{{- define "fleet-addon.podSecurityContext" -}}
runAsNonRoot: true
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "fleet-addon.securityContext" -}}
allowPrivilegeEscalation: false
privileged: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* See placement.yaml: keeps the add-on on clusters while their groups change. */}}
{{- define "fleet-addon.ungroupedPlacement" -}}
{{ .Values.placement.name }}-ungrouped
{{- end }}
