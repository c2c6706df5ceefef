{{- define "agent.name" -}}
fleet-addon-agent
{{- end }}

{{- define "agent.labels" -}}
app.kubernetes.io/name: fleet-addon-agent
app.kubernetes.io/component: agent
app.kubernetes.io/part-of: fleet-addon
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{/* The requirements of the last matching entry, as the API of AddOnDeploymentConfig says. */}}
{{- define "agent.resources" -}}
{{- $resources := .Values.resources -}}
{{- range .Values.global.resourceRequirements -}}
{{- if regexMatch .containerIDRegex "deployments:fleet-addon-agent:agent" -}}
{{- $resources = .resources -}}
{{- end -}}
{{- end -}}
{{- toYaml $resources -}}
{{- end }}
