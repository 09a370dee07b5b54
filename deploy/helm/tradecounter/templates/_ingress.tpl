{{- /* The ingress of a site, with its certificate, if it is enabled. */}}
{{- define "tradecounter.ingress" -}}
{{- if .ingress.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  {{- include "tradecounter.metadata" . | nindent 2 }}
  annotations:
    # Responses have up to 16 KiB of headers.
    nginx.ingress.kubernetes.io/proxy-buffer-size: 32k
    {{- if eq .component "backoffice" }}
    # Import files are large.
    nginx.ingress.kubernetes.io/proxy-body-size: "0"
    nginx.ingress.kubernetes.io/proxy-read-timeout: "300"
    {{- end }}
spec:
  {{- with .ingress.className }}
  ingressClassName: {{ . }}
  {{- end }}
  tls:
    - {secretName: {{ required "an ingress needs tlsSecret: nobody can sign in over plain HTTP" .ingress.tlsSecret }}, hosts: [{{ .ingress.host }}]}
  rules:
    - host: {{ .ingress.host }}
      http:
        paths:
          - path: /
            pathType: Prefix
            backend: {service: {name: {{ .root.Release.Name }}-{{ .component }}, port: {name: http}}}
{{- end }}
{{- end }}
