package controlplane

import (
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"open-cluster-management.io/fleet-addon/test/env/internal/process"
)

// NeverReady is the label or annotation, with the value "true", of a pod that never becomes ready; an image whose name
// has "never-ready" in it does the same.
const NeverReady = "fleet-addon.test/never-ready"

//go:embed stages.yaml
var stages string

// Selection picks pods for the never-ready fault: by labels, in one namespace or all.
type Selection struct {
	Namespace string `json:"namespace,omitempty"`
	Selector  string `json:"selector"`
}

// Kwok plays the kubelet for all pods but those of our own image.
func (c Cluster) Kwok() process.Spec {
	return c.spec("kwok",
		"--kubeconfig="+c.Kubeconfig(), "--config="+c.file("kwok.yaml"), "--manage-all-nodes=true", "--node-ip=127.0.0.1",
		fmt.Sprintf("--server-address=127.0.0.1:%d", c.Ports["kwok"]), "--cidr=10.200.0.0/16",
	)
}

// WriteStages writes kwok's configuration; kwok reads it at its start only.
func (c Cluster) WriteStages(faults []Selection) error {
	conditions := []string{
		fmt.Sprintf(`.metadata.labels[%q] == "true"`, NeverReady),
		fmt.Sprintf(`.metadata.annotations[%q] == "true"`, NeverReady),
		`any(.spec.containers[].image; contains("never-ready"))`,
	}
	for _, fault := range faults {
		condition, err := fault.condition()
		if err != nil {
			return err
		}
		conditions = append(conditions, condition)
	}
	text := strings.NewReplacer(
		"NEVER", "select("+strings.Join(conditions, " or ")+") | .metadata.uid",
		// An image without registry and tag that is ours: the environment runs those itself.
		"OURS", `select(any(.spec.containers[].image; test("(^|/)fleet-addon([:@]|$)"))) | .metadata.uid`,
	).Replace(stages)
	return os.WriteFile(c.file("kwok.yaml"), []byte(text), 0o600)
}

// condition is the jq expression for a selection; only equality is supported.
func (s Selection) condition() (string, error) {
	set, err := labels.ConvertSelectorToLabelsMap(s.Selector)
	if err != nil || len(set) == 0 {
		return "", fmt.Errorf("selector %q: want key=value[,key=value]", s.Selector)
	}
	var terms []string
	for key, value := range set {
		terms = append(terms, fmt.Sprintf(".metadata.labels[%q] == %q", key, value))
	}
	slices.Sort(terms)
	if s.Namespace != "" {
		terms = append(terms, fmt.Sprintf(".metadata.namespace == %q", s.Namespace))
	}
	return "(" + strings.Join(terms, " and ") + ")", nil
}
