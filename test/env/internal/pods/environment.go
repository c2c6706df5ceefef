package pods

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// environment are the container's variables as a kubelet makes them, without those of Services.
func (p *pod) environment(ctx context.Context, c corev1.Container) (map[string]string, error) {
	variables := map[string]string{}
	for _, from := range c.EnvFrom {
		data, err := p.sourceOf(ctx, from)
		if err != nil {
			return nil, err
		}
		for key, value := range data {
			variables[from.Prefix+key] = value
		}
	}
	for _, v := range c.Env {
		value, ok, err := p.variable(ctx, c, v, variables)
		if err != nil {
			return nil, fmt.Errorf("variable %s: %w", v.Name, err)
		}
		if ok {
			variables[v.Name] = value
		}
	}
	return variables, nil
}

func (p *pod) sourceOf(ctx context.Context, from corev1.EnvFromSource) (map[string]string, error) {
	switch {
	case from.SecretRef != nil:
		return p.values(ctx, "Secret", from.SecretRef.Name, from.SecretRef.Optional)
	case from.ConfigMapRef != nil:
		return p.values(ctx, "ConfigMap", from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
	}
	return nil, nil
}

func (p *pod) variable(ctx context.Context, c corev1.Container, v corev1.EnvVar, known map[string]string) (string, bool, error) {
	if v.ValueFrom == nil {
		return expand(v.Value, known), true, nil
	}
	switch from := v.ValueFrom; {
	case from.FieldRef != nil:
		value, err := p.field(from.FieldRef.FieldPath)
		return value, true, err
	case from.SecretKeyRef != nil:
		return p.key(ctx, "Secret", from.SecretKeyRef.Name, from.SecretKeyRef.Key, from.SecretKeyRef.Optional)
	case from.ConfigMapKeyRef != nil:
		return p.key(ctx, "ConfigMap", from.ConfigMapKeyRef.Name, from.ConfigMapKeyRef.Key, from.ConfigMapKeyRef.Optional)
	case from.ResourceFieldRef != nil:
		return resourceField(c, from.ResourceFieldRef.Resource)
	}
	return "", false, nil
}

// resourceField is a container's limit or request; without one the variable stays unset, as this machine has no share.
func resourceField(c corev1.Container, name string) (string, bool, error) {
	list, resource, _ := strings.Cut(name, ".")
	quantities := c.Resources.Limits
	if list == "requests" {
		quantities = c.Resources.Requests
	}
	quantity, ok := quantities[corev1.ResourceName(resource)]
	return strconv.FormatInt(quantity.Value(), 10), ok, nil
}

func (p *pod) field(path string) (string, error) {
	switch path {
	case "metadata.name":
		return p.object.Name, nil
	case "metadata.namespace":
		return p.object.Namespace, nil
	case "metadata.uid":
		return string(p.object.UID), nil
	case "spec.nodeName":
		return p.object.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return p.object.Spec.ServiceAccountName, nil
	case "status.podIP", "status.hostIP":
		return "127.0.0.1", nil
	}
	for prefix, values := range map[string]map[string]string{
		"metadata.labels['": p.object.Labels, "metadata.annotations['": p.object.Annotations,
	} {
		if key, ok := strings.CutPrefix(path, prefix); ok {
			return values[strings.TrimSuffix(key, "']")], nil
		}
	}
	return "", fmt.Errorf("field %s is not supported here", path)
}

func (p *pod) key(ctx context.Context, kind, name, key string, optional *bool) (string, bool, error) {
	data, err := p.values(ctx, kind, name, optional)
	if err != nil {
		return "", false, err
	}
	value, ok := data[key]
	if !ok && (optional == nil || !*optional) {
		return "", false, fmt.Errorf("%s %s/%s has no key %q", kind, p.object.Namespace, name, key)
	}
	return value, ok, nil
}

// values reads a Secret or ConfigMap; one that is optional and missing has none.
func (p *pod) values(ctx context.Context, kind, name string, optional *bool) (map[string]string, error) {
	values := map[string]string{}
	var err error
	if kind == "Secret" {
		var secret *corev1.Secret
		if secret, err = p.node.Clients.CoreV1().Secrets(p.object.Namespace).Get(ctx, name, metav1.GetOptions{}); err == nil {
			for key, value := range secret.Data {
				values[key] = string(value)
			}
		}
	} else {
		var config *corev1.ConfigMap
		if config, err = p.node.Clients.CoreV1().ConfigMaps(p.object.Namespace).Get(ctx, name, metav1.GetOptions{}); err == nil {
			maps.Copy(values, config.Data)
			for key, value := range config.BinaryData {
				values[key] = string(value)
			}
		}
	}
	if apierrors.IsNotFound(err) && optional != nil && *optional {
		return values, nil
	}
	return values, err
}

// list is the form that a process takes.
func list(variables map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		out = append(out, name+"="+variables[name])
	}
	return out
}
