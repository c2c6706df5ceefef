package target

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
)

// DeploymentID identifies what is deployed: the content's name, a colon, and the
// SHA-256 of the options in hex. Options that only say how the agent looks after
// a release are left out (diff, correctDrift, keepResources): to change them
// deploys nothing anew.
func DeploymentID(contentName string, opts fleet.BundleDeploymentOptions) (string, error) {
	opts.Diff, opts.CorrectDrift, opts.KeepResources = nil, nil, false
	data, err := json.Marshal(opts)
	if err != nil {
		return "", fmt.Errorf("options of content %s: %w", contentName, err)
	}
	sum := sha256.Sum256(data)
	return contentName + ":" + hex.EncodeToString(sum[:]), nil
}

// Revision is a short hash, 10 hex digits, of everything that a bundle deploys
// and of where to: its content, its options and its targets.
func Revision(b *fleet.Bundle, contentName string) string {
	mode := b.Spec.TargetCustomizationMode
	if mode == "" {
		// What the API server fills in; a bundle without it is no other revision.
		mode = "FirstMatch"
	}
	data, err := json.Marshal(struct {
		Content      string
		Options      fleet.BundleDeploymentOptions
		Targets      []fleet.BundleTarget            `json:",omitempty"`
		Restrictions []fleet.BundleTargetRestriction `json:",omitempty"`
		Mode         fleet.TargetCustomizationMode
		ValuesHash   string
	}{contentName, b.Spec.BundleDeploymentOptions, b.Spec.Targets, b.Spec.TargetRestrictions, mode, b.Spec.ValuesHash})
	if err != nil {
		// Values that came from JSON cannot fail; others get a revision all the same,
		// and DeploymentID reports the error.
		data = fmt.Appendf(nil, "%s %v", contentName, err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:10]
}
