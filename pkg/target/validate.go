package target

import (
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"path"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// notYet is the text of everything that Fleet has and this version has not.
// Refused is better than ignored: what would be deployed is not what was asked for.
const notYet = "not supported yet"

// maxTargets is how many targets and restrictions a bundle may have together. A megabyte
// holds hundreds of thousands of empty ones, and each is tried on every cluster.
const maxTargets = 10_000

// Validate returns what is wrong with a bundle and what of it this version
// refuses, each error with its field's path.
func Validate(b *fleet.Bundle) field.ErrorList {
	spec := field.NewPath("spec")
	if n := len(b.Spec.Targets) + len(b.Spec.TargetRestrictions); n > maxTargets {
		return field.ErrorList{field.Forbidden(spec.Child("targets"), fmt.Sprintf(
			"there are %d targets and targetRestrictions, at most %d are read; name clusters by their labels or by a ClusterGroup", n, maxTargets))}
	}
	errs := validateSpec(&b.Spec, spec)
	errs = append(errs, validateResources(b.Spec.Resources, spec.Child("resources"))...)
	errs = append(errs, validateOptions(&b.Spec.BundleDeploymentOptions, spec)...)
	errs = append(errs, validateCharts(b)...)
	errs = append(errs, validateTemplates(b)...)
	for i := range b.Spec.Targets {
		t, at := &b.Spec.Targets[i], spec.Child("targets").Index(i)
		errs = append(errs, validateTerms(targetTerms(t), at)...)
		options := optionsOf(t)
		errs = append(errs, validateOptions(&options, at)...)
	}
	for i := range b.Spec.TargetRestrictions {
		errs = append(errs, validateTerms(restrictionTerms(&b.Spec.TargetRestrictions[i]),
			spec.Child("targetRestrictions").Index(i))...)
	}
	return append(errs, ValidatePartitions(b)...)
}

func validateSpec(s *fleet.BundleSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch s.TargetCustomizationMode {
	case "", fleet.TargetCustomizationModeFirstMatch, fleet.TargetCustomizationModeAllMatches:
	default:
		errs = append(errs, field.NotSupported(at.Child("targetCustomizationMode"), s.TargetCustomizationMode,
			[]fleet.TargetCustomizationMode{fleet.TargetCustomizationModeFirstMatch, fleet.TargetCustomizationModeAllMatches}))
	}
	if len(s.DependsOn) > 0 {
		errs = append(errs, field.Forbidden(at.Child("dependsOn"), notYet))
	}
	if s.ContentsID != "" {
		errs = append(errs, field.Forbidden(at.Child("contentsId"), notYet+"; carry the files in spec.resources"))
	}
	if s.HelmOpOptions != nil {
		errs = append(errs, field.Forbidden(at.Child("helmOpOptions"), notYet+"; carry the chart in spec.resources"))
	}
	return errs
}

func validateTerms(t terms, at *field.Path) field.ErrorList {
	opts := metav1validation.LabelSelectorValidationOptions{}
	return append(metav1validation.ValidateLabelSelector(t.clusterSelector, opts, at.Child("clusterSelector")),
		metav1validation.ValidateLabelSelector(t.clusterGroupSelector, opts, at.Child("clusterGroupSelector"))...)
}

func validateResources(resources []fleet.BundleResource, at *field.Path) field.ErrorList {
	if len(resources) == 0 {
		return field.ErrorList{field.Required(at, "a bundle without files deploys nothing")}
	}
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, r := range resources {
		name := at.Index(i).Child("name")
		switch {
		case r.Name == "":
			errs = append(errs, field.Required(name, "the path of the file inside the bundle"))
			continue
		case path.Clean(r.Name) != r.Name || path.IsAbs(r.Name) || r.Name == ".." || strings.HasPrefix(r.Name, "../") ||
			strings.ContainsAny(r.Name, "\\\x00"):
			errs = append(errs, field.Invalid(name, r.Name, "must be a clean relative path inside the bundle, with slashes"))
		case seen[r.Name]:
			errs = append(errs, field.Duplicate(name, r.Name))
		}
		seen[r.Name] = true
		errs = append(errs, validateEncoding(r, at.Index(i))...)
	}
	return errs
}

func validateEncoding(r fleet.BundleResource, at *field.Path) field.ErrorList {
	switch r.Encoding {
	case "":
		return nil
	case "base64+gz":
		// The header is enough to find what was never encoded; the content's hash
		// guards the rest, and its reader bounds it.
		if _, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(r.Content))); err != nil {
			return field.ErrorList{field.Invalid(at.Child("content"), field.OmitValueType{}, "is not base64 of gzip: "+err.Error())}
		}
		return nil
	default:
		return field.ErrorList{field.NotSupported(at.Child("encoding"), r.Encoding, []string{"", "base64+gz"})}
	}
}

func validateOptions(o *fleet.BundleDeploymentOptions, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, u := range unsupported {
		if u.set(o) {
			errs = append(errs, field.Forbidden(at.Child(u.path[0], u.path[1:]...), u.text))
		}
	}
	for _, n := range []struct{ field, value string }{
		{"namespace", o.TargetNamespace}, {"defaultNamespace", o.DefaultNamespace},
	} {
		if n.value == "" {
			continue
		}
		for _, msg := range validation.IsDNS1123Label(n.value) {
			errs = append(errs, field.Invalid(at.Child(n.field), n.value, msg))
		}
	}
	if o.Helm != nil {
		errs = append(errs, validateHelm(o.Helm, at.Child("helm"))...)
	}
	return errs
}

// maxReleaseName is Helm's own limit.
const maxReleaseName = 53

func validateHelm(h *fleet.HelmOptions, at *field.Path) field.ErrorList {
	if h.ReleaseName == "" {
		return nil
	}
	var errs field.ErrorList
	for _, msg := range validation.IsDNS1123Subdomain(h.ReleaseName) {
		errs = append(errs, field.Invalid(at.Child("releaseName"), h.ReleaseName, msg))
	}
	if len(h.ReleaseName) > maxReleaseName {
		errs = append(errs, field.TooLong(at.Child("releaseName"), h.ReleaseName, maxReleaseName))
	}
	return errs
}
