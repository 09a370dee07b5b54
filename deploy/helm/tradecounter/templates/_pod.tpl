{{- define "tradecounter.labels" -}}
app.kubernetes.io/name: tradecounter
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "tradecounter.metadata" -}}
name: {{ .root.Release.Name }}-{{ .component }}
labels:
  {{- include "tradecounter.labels" . | nindent 2 }}
  app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
  helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- /* The fields of a pod that all processes share: without privileges, on a read-only file system. */}}
{{- define "tradecounter.pod" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
volumes:
  - name: data
    emptyDir: {}
  - name: temporary
    emptyDir: {}
{{- end }}

{{- define "tradecounter.container" -}}
name: {{ .component }}
image: "{{ .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}"
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
envFrom:
  - secretRef: {name: {{ .root.Values.existingSecret }}}
{{- with .root.Values.settings }}
env:
  {{- range $name, $value := . }}
  - {name: TRADECOUNTER_{{ $name }}, value: {{ $value | quote }}}
  {{- end }}
{{- end }}
volumeMounts:
  - {name: data, mountPath: /var/lib/tradecounter}
  - {name: temporary, mountPath: /tmp}
{{- end }}

{{- /* What Prometheus needs to find the metrics of a pod. */}}
{{- define "tradecounter.scraped" -}}
annotations:
  prometheus.io/scrape: "true"
  prometheus.io/port: "9464"
{{- end }}

{{- /* Alive as long as the process responds; ready while it should get requests. */}}
{{- define "tradecounter.probes" -}}
startupProbe:
  httpGet: {path: /check-health, port: http}
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /check-health, port: http}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /ready, port: http}
  periodSeconds: 2
  timeoutSeconds: 5
  failureThreshold: 1
{{- end }}
