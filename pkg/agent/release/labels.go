package release

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"k8s.io/apimachinery/pkg/labels"

	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// Labels of the Secrets in which Helm keeps a release. They are all that is
// needed to find a release whose BundleDeployment is gone.
const (
	// LabelOwner names the BundleDeployment. The objects of the release carry it
	// too, but never the pods that they make.
	LabelOwner = v1alpha1.GroupName + "/bundle-deployment"
	// LabelAgent is the namespace of the agent, so that an agent of another hub on
	// the same cluster leaves the release alone.
	LabelAgent = v1alpha1.GroupName + "/agent-namespace"
	// LabelDeployment is the start of the SHA-256 of the deployment id.
	LabelDeployment = v1alpha1.GroupName + "/deployment"
	// LabelKeep is "true" if the objects stay when the BundleDeployment goes.
	LabelKeep = v1alpha1.GroupName + "/keep"

	// Labels that Helm sets itself.
	labelHelmOwner   = "owner"
	labelHelmName    = "name"
	labelHelmStatus  = "status"
	labelHelmVersion = "version"

	deploymentDigits = 40
)

// Selector selects the Helm Secrets of all releases of the agent in a namespace.
func Selector(agentNamespace string) labels.Selector {
	return labels.SelectorFromSet(labels.Set{labelHelmOwner: "helm", LabelAgent: agentNamespace})
}

// Owner is a BundleDeployment in the agent's namespace.
type Owner struct {
	Namespace, Name string
}

func (o Owner) owns(lbls map[string]string) bool {
	return lbls[LabelAgent] == o.Namespace && lbls[LabelOwner] == o.Name
}

func hashID(deploymentID string) string {
	sum := sha256.Sum256([]byte(deploymentID))
	return hex.EncodeToString(sum[:])[:deploymentDigits]
}

func (w Want) labels() map[string]string {
	return map[string]string{
		LabelOwner:      w.Owner.Name,
		LabelAgent:      w.Owner.Namespace,
		LabelDeployment: hashID(w.DeploymentID),
		LabelKeep:       strconv.FormatBool(w.Keep),
	}
}

// Record is what the labels of one Helm Secret say.
type Record struct {
	Key      Key
	Revision int
	Status   string
}

// RecordOf reads the labels of a Helm Secret in a namespace; false if it is none.
func RecordOf(namespace string, lbls map[string]string) (Record, bool) {
	revision, err := strconv.Atoi(lbls[labelHelmVersion])
	if err != nil || lbls[labelHelmName] == "" {
		return Record{}, false
	}
	return Record{
		Key:      Key{Namespace: namespace, Name: lbls[labelHelmName]},
		Revision: revision,
		Status:   lbls[labelHelmStatus],
	}, true
}
