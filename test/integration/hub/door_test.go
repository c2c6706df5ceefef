package hub_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	. "github.com/onsi/ginkgo/v2"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// A door is one of our resources, as people write it: raw JSON to the API server, which
// says what it would store and stores nothing.
type door struct {
	client   *rest.RESTClient
	resource string
	kind     string
}

func doorOf(resource, kind string) door {
	GinkgoHelper()
	config := rest.CopyConfig(adminCfg)
	config.GroupVersion, config.APIPath = &v1alpha1.GroupVersion, "/apis"
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	c, err := rest.RESTClientFor(config)
	Expect(err).NotTo(HaveOccurred())
	return door{client: c, resource: resource, kind: kind}
}

// object with a spec as it is written.
func (d door) object(spec string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{"name":"door","namespace":"default"},"spec":%s}`,
		v1alpha1.GroupVersion, d.kind, spec)
}

// knock writes an object and returns what would be stored, or the fields that the API
// server refuses, each once, with what it says of them.
func (d door) knock(spec string) (stored []byte, refused []string) {
	GinkgoHelper()
	body, err := d.client.Post().Namespace("default").Resource(d.resource).Param("dryRun", "All").
		SetHeader("Content-Type", "application/json").Body(d.object(spec)).DoRaw(bg)
	if err == nil {
		return body, nil
	}
	status := metav1.Status{}
	Expect(json.Unmarshal(body, &status)).To(Succeed(), "%v: %s", err, body)
	if status.Details == nil || len(status.Details.Causes) == 0 {
		return nil, []string{status.Message}
	}
	for _, cause := range status.Details.Causes {
		// Rules that were not looked at for another mistake name no field.
		if cause.Field != "<nil>" {
			refused = append(refused, cause.Field+": "+cause.Message)
		}
	}
	slices.Sort(refused)
	return nil, slices.Compact(refused)
}

// planner says what is wrong with a policy as the manager reads it: "" for nothing.
func planner(object []byte) (*v1alpha1.RolloutPolicy, string) {
	policy := &v1alpha1.RolloutPolicy{}
	if err := json.Unmarshal(object, policy); err != nil {
		return nil, "cannot be read: " + err.Error()
	}
	var out []string
	for _, err := range rollout.ValidatePolicy(policy) {
		out = append(out, err.Error())
	}
	return policy, strings.Join(out, "\n")
}
