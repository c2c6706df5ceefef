package variables

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"open-cluster-management.io/addon-framework/pkg/utils"
)

// Kind of the configs. The hash that OCM publishes is one over the untyped object.
var Kind = schema.GroupVersionKind{Group: utils.AddOnDeploymentConfigGVR.Group, Version: utils.AddOnDeploymentConfigGVR.Version, Kind: "AddOnDeploymentConfig"}

// What Strip leaves beside the metadata. The API server lets no config through that has
// such fields.
const (
	fieldHash      = "hash"
	fieldVariables = "variables"
)

// Strip is a transform for a cache of AddOnDeploymentConfigs: it leaves their hash and
// their customized variables.
func Strip(object any) (any, error) {
	u, ok := object.(*unstructured.Unstructured)
	if !ok || u.GroupVersionKind() != Kind {
		return object, nil
	}
	if _, done := u.Object[fieldHash]; done {
		return u, nil
	}
	hash, err := utils.GetSpecHash(u)
	if err != nil {
		return nil, err
	}
	variables := map[string]any{}
	list, _, _ := unstructured.NestedSlice(u.Object, "spec", "customizedVariables")
	for _, entry := range list {
		variable, _ := entry.(map[string]any)
		name, _ := variable["name"].(string)
		value, _ := variable["value"].(string)
		variables[name] = value
	}
	out := &unstructured.Unstructured{Object: map[string]any{fieldHash: hash, fieldVariables: variables}}
	out.SetGroupVersionKind(Kind)
	out.SetNamespace(u.GetNamespace())
	out.SetName(u.GetName())
	out.SetUID(u.GetUID())
	out.SetResourceVersion(u.GetResourceVersion())
	return out, nil
}

// read returns what Strip has left of a config.
func read(u *unstructured.Unstructured) version {
	hash, _, _ := unstructured.NestedString(u.Object, fieldHash)
	variables, _, _ := unstructured.NestedStringMap(u.Object, fieldVariables)
	return version{hash: hash, variables: variables}
}
