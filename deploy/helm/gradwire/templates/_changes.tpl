{{/* Applies the values to the manifest `.it`. `.root` is the chart's scope. */}}
{{- define "gradwire.change" }}
{{- $it := .it }}{{ $root := .root }}{{ $values := .root.Values }}
{{- $labels := dict "app.kubernetes.io/managed-by" $root.Release.Service "app.kubernetes.io/instance" $root.Release.Name }}
{{- $_ := set $it.metadata "labels" (merge $labels ($it.metadata.labels | default dict)) }}
{{- $settings := dict }}
{{- if $values.gpu.enabled }}{{ $_ := set $settings "GRADWIRE_GPU_REDIRECT_FLOPS" $values.gpu.redirectFlops }}{{ end }}
{{- $limits := $values.limits }}
{{- if ne (int $limits.bodyMiB) 64 }}{{ $_ := set $settings "GRADWIRE_MAX_BODY_BYTES" (printf "%dMiB" (int $limits.bodyMiB)) }}{{ end }}
{{- if ne (int $limits.defaultSeconds) 10 }}{{ $_ := set $settings "GRADWIRE_DEFAULT_TIMEOUT_MS" (printf "%d000" (int $limits.defaultSeconds)) }}{{ end }}
{{- if ne (int $limits.longestSeconds) 60 }}{{ $_ := set $settings "GRADWIRE_MAX_TIMEOUT_MS" (printf "%d000" (int $limits.longestSeconds)) }}{{ end }}
{{- range $setting, $value := $values.settings }}{{ $_ := set $settings $setting $value }}{{ end }}
{{- $name := printf "%s %s" $it.kind $it.metadata.name }}
{{- if has $name (list "Deployment gradwire" "Deployment gradwire-gpu") }}
{{- $pod := $it.spec.template.spec }}{{ $container := first $pod.containers }}
{{- $_ := set $pod "terminationGracePeriodSeconds" (add (int $limits.longestSeconds) 20) }}
{{- if eq $name "Deployment gradwire" }}
{{- $_ := set $it.spec "replicas" (int $values.replicas.min) }}
{{- $_ := set $container "image" $values.image }}
{{- $_ := set $container "resources" $values.resources }}
{{- else }}
{{- $_ := set $it.spec "replicas" (int $values.gpu.replicas) }}
{{- $_ := set $container "image" $values.gpu.image }}
{{- $_ := set $container "resources" $values.gpu.resources }}
{{- $_ := set $pod "nodeSelector" $values.gpu.nodeSelector }}
{{- $_ := set $pod "tolerations" $values.gpu.tolerations }}
{{- end }}
{{- with $values.imagePullSecrets }}{{ $_ := set $pod "imagePullSecrets" . }}{{ end }}
{{- range $field := list "affinity" "serviceAccountName" "priorityClassName" }}
{{- with get $values.pod $field }}{{ $_ := set $pod $field . }}{{ end }}
{{- end }}
{{- $constraints := list }}
{{- range $constraint := $values.pod.topologySpreadConstraints }}
{{- $constraints = append $constraints (hasKey $constraint "labelSelector" | ternary $constraint (merge (dict "labelSelector" $it.spec.selector) $constraint)) }}
{{- end }}
{{- with $constraints }}{{ $_ := set $pod "topologySpreadConstraints" . }}{{ end }}
{{- $_ := set $it.spec.template.metadata "labels" (merge $it.spec.template.metadata.labels $values.pod.labels) }}
{{- range $volume := $pod.volumes }}
{{- if eq $volume.name "keys" }}{{ $_ := set $volume.secret "secretName" $values.keysSecret }}{{ end }}
{{- if eq $volume.name "redis-ca" }}{{ $_ := set $volume.secret "secretName" $values.redis.secret }}{{ end }}
{{- end }}
{{- $environment := list }}{{ $given := list }}
{{- range $entry := $values.extraEnv }}{{ $given = append $given $entry.name }}{{ end }}
{{- range $entry := $container.env }}
{{- if not (or (hasKey $settings $entry.name) (has $entry.name $given)) }}{{ $environment = append $environment $entry }}{{ end }}
{{- if eq $entry.name "GRADWIRE_STORE" }}{{ $_ := set $entry.valueFrom.secretKeyRef "name" $values.redis.secret }}{{ end }}
{{- end }}
{{- $_ := set $container "env" (concat $environment $values.extraEnv) }}
{{- $checksum := dict "checksum/settings" (toJson $settings | sha256sum) }}
{{- $_ := set $it.spec.template.metadata "annotations" (merge $checksum $values.pod.annotations) }}
{{- else if eq $name "HorizontalPodAutoscaler gradwire" }}
{{- $_ := set $it.spec "minReplicas" (int $values.replicas.min) }}
{{- $_ := set $it.spec "maxReplicas" (int $values.replicas.max) }}
{{- else if eq $name "ConfigMap gradwire-settings" }}
{{- range $setting, $value := $settings }}{{ $_ := set $it.data $setting (toString $value) }}{{ end }}
{{- else if eq $name "Deployment nginx" }}
{{- $read := include "gradwire.nginx" $root }}
{{- range $entry := (first $it.spec.template.spec.containers).env }}{{ $read = print $read (get $settings $entry.name) }}{{ end }}
{{- $_ := set $it.spec.template.metadata "annotations" (dict "checksum/configuration" (sha256sum $read)) }}
{{- $more := sub (int $limits.longestSeconds) 60 }}
{{- $_ := set $it.spec.template.spec "terminationGracePeriodSeconds" (add $it.spec.template.spec.terminationGracePeriodSeconds $more) }}
{{- else if eq $name "StatefulSet redis" }}
{{- $claim := first $it.spec.volumeClaimTemplates }}
{{- $_ := set $claim.spec.resources.requests "storage" $values.redis.storage }}
{{- range $entry := (first $it.spec.template.spec.containers).env }}
{{- if $entry.valueFrom }}{{ $_ := set $entry.valueFrom.secretKeyRef "name" $values.redis.secret }}{{ end }}
{{- if and $values.redis.tls (eq $entry.name "REDIS_PORT") }}{{ $_ := set $entry "value" "0" }}{{ end }}
{{- if and $values.redis.tls (eq $entry.name "REDIS_TLS_PORT") }}{{ $_ := set $entry "value" "6379" }}{{ end }}
{{- end }}
{{- $_ := set (first $it.spec.template.spec.volumes).secret "secretName" $values.redis.secret }}
{{- else if eq $it.kind "NetworkPolicy" }}
{{- range $rule := $it.spec.ingress | default list }}{{ range $peer := $rule.from }}{{ with $peer.namespaceSelector }}
{{- $label := "kubernetes.io/metadata.name" }}
{{- $_ := set .matchLabels $label (get $values.namespaces (get .matchLabels $label)) }}
{{- end }}{{ end }}{{ end }}
{{- else if eq $name "HTTPRoute gradwire" }}
{{- $_ := set $it.spec "hostnames" $values.route.hostnames }}
{{- $_ := set $it.spec "parentRefs" $values.route.parentRefs }}
{{- end }}
{{- end }}

{{/* The configuration files of nginx, as two ConfigMaps. */}}
{{- define "gradwire.nginx" }}
{{- $namespace := printf "replicas.%s.svc" .Release.Namespace }}
{{- $upstream := .Files.Get "files/upstream.conf" | replace "replicas.gradwire.svc" $namespace | replace "kube-dns.kube-system.svc.cluster.local" .Values.dns -}}
apiVersion: v1
kind: ConfigMap
metadata: {name: nginx-upstream}
data:
  upstream.conf: {{ toJson $upstream }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: nginx}
data:
{{- range $file := list "gradwire.conf" "limits.sh" "problems.conf" "routing.conf" }}
  {{ $file }}: {{ $.Files.Get (printf "files/%s" $file) | toJson }}
{{- end }}
{{- end }}
