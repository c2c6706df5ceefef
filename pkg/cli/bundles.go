package cli

import (
	"fmt"
	"io"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"open-cluster-management.io/fleet-addon/pkg/document"
)

// readBundles reads the Bundles of a file, and the Secrets beside them by name: those of
// bundles have their values.
func readBundles(file string, in io.Reader) ([]*fleet.Bundle, map[string]*corev1.Secret, error) {
	documents, err := document.Load(file, in)
	if err != nil {
		return nil, nil, err
	}
	var bundles []*fleet.Bundle
	secrets := map[string]*corev1.Secret{}
	for _, d := range documents {
		switch {
		case d.Kind == "Secret" && d.APIVersion == "v1":
			s := &corev1.Secret{}
			if err := d.Into(s); err != nil {
				// The error can quote what is in it.
				return nil, nil, fmt.Errorf("%s: not a Secret as `fleetctl apply` writes it", d.Place())
			}
			secrets[s.Name] = s
		case d.Kind == "Bundle" && d.APIVersion == fleet.SchemeGroupVersion.String():
			b := &fleet.Bundle{}
			if err := d.Into(b); err != nil {
				return nil, nil, err
			}
			bundles = append(bundles, b)
		}
	}
	return bundles, secrets, nil
}
