package addon

import (
	"fmt"
	"slices"
	"time"

	"open-cluster-management.io/addon-framework/pkg/addonfactory"
	"open-cluster-management.io/addon-framework/pkg/utils"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

// Customized variables of an AddOnDeploymentConfig that the agent understands.
// Others are left to the add-ons that they are for.
const (
	variableVersion         = "version"
	variableImage           = "image"
	variableImagePullPolicy = "imagePullPolicy"
	variableImagePullSecret = "imagePullSecret"
	variableLogLevel        = "logLevel"
	variableStatusInterval  = "statusInterval"
)

// What the variables may be.
var (
	logLevels    = []string{"error", "warn", "info", "debug"}
	pullPolicies = []string{"Always", "IfNotPresent", "Never"}
)

// agentValues makes the values of the agent's chart.
type agentValues struct {
	configs *configs
	// image where no config names one.
	image string
	// version of the embedded chart.
	version string
}

// forCluster returns the values for one cluster: the config in force, with the
// image taken from the mirror that the config or the cluster names.
func (v agentValues) forCluster(
	cluster *clusterv1.ManagedCluster, addon *addonv1beta1.ManagedClusterAddOn,
) (addonfactory.Values, error) {
	config, err := v.configs.inForce(addon)
	if err != nil {
		return nil, err
	}
	if config == nil {
		config = &addonv1beta1.AddOnDeploymentConfig{}
	}
	values, err := v.fromConfig(config)
	if err != nil {
		return nil, fmt.Errorf("AddOnDeploymentConfig %s/%s: %w", config.Namespace, config.Name, err)
	}

	image, _ := values[variableImage].(string)
	mirrored := addonfactory.OverrideImage(config.Spec.Registries, image)
	if mirrored == image {
		// The config's registries win over the cluster's.
		if mirrored, err = utils.OverrideImageByAnnotation(cluster.Annotations, image); err != nil {
			return nil, fmt.Errorf("ManagedCluster %s: annotation %s: %w",
				cluster.Name, clusterv1.ClusterImageRegistriesAnnotationKey, err)
		}
	}
	values[variableImage] = mirrored
	return values, nil
}

func (v agentValues) fromConfig(config *addonv1beta1.AddOnDeploymentConfig) (addonfactory.Values, error) {
	values, err := v.fromVariables(config.Spec.CustomizedVariables)
	if err != nil {
		return nil, err
	}
	// Not ToAddOnDeploymentConfigValues: it yields capitalised keys, for templates.
	for _, convert := range []addonfactory.AddOnDeploymentConfigToValuesFunc{
		addonfactory.ToAddOnNodePlacementValues,
		addonfactory.ToAddOnProxyConfigValues,
		addonfactory.ToAddOnResourceRequirementsValues,
	} {
		part, err := convert(*config)
		if err != nil {
			return nil, err
		}
		values = addonfactory.MergeValues(values, withoutNulls(part))
	}
	return values, nil
}

// withoutNulls drops what the framework says of a field that is not set: to Helm a
// null means that the chart's own default goes too.
func withoutNulls(values map[string]any) map[string]any {
	kept := map[string]any{}
	for key, value := range values {
		switch value := value.(type) {
		case nil:
		case map[string]any:
			kept[key] = withoutNulls(value)
		default:
			kept[key] = value
		}
	}
	return kept
}

func (v agentValues) fromVariables(variables []addonv1beta1.CustomizedVariable) (addonfactory.Values, error) {
	values := addonfactory.Values{variableImage: v.image}
	for _, variable := range variables {
		if err := v.check(variable); err != nil {
			return nil, fmt.Errorf("spec.customizedVariables: %s: %w", variable.Name, err)
		}
		switch variable.Name {
		case variableImage, variableImagePullPolicy, variableImagePullSecret, variableLogLevel:
			values[variable.Name] = variable.Value
		case variableStatusInterval:
			values["args"] = []any{"--report-interval=" + variable.Value}
		}
	}
	return values, nil
}

func (v agentValues) check(variable addonv1beta1.CustomizedVariable) error {
	switch variable.Name {
	case variableVersion:
		// A new manager must not bring its new chart to a cluster whose turn has not
		// come: until then its config names the old version.
		if variable.Value != v.version {
			return fmt.Errorf("is %q, and this manager deploys %q: the agent stays as it is until a config with %q is in force",
				variable.Value, v.version, v.version)
		}
	case variableImage:
		if variable.Value == "" {
			return fmt.Errorf("is empty: name an image, or leave the variable out")
		}
	case variableLogLevel:
		return oneOf(variable.Value, logLevels)
	case variableImagePullPolicy:
		return oneOf(variable.Value, pullPolicies)
	case variableStatusInterval:
		interval, err := time.ParseDuration(variable.Value)
		if err != nil || interval <= 0 {
			return fmt.Errorf("is %q, want a positive duration such as 30s", variable.Value)
		}
	}
	return nil
}

func oneOf(value string, allowed []string) error {
	if !slices.Contains(allowed, value) {
		return fmt.Errorf("is %q, want one of %q", value, allowed)
	}
	return nil
}
