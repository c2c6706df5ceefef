// Package e2e runs the add-on on a real hub and four real managed clusters, dev1, dev2, stg and prod, and asserts from
// their APIs what the documentation promises. FLEET_E2E_ENV is the folder with their description, env.json, which local
// clusters (make e2e) and kind clusters (make e2e-kind) have alike; HUB_KUBECONFIG and CLUSTERS=NAME=KUBECONFIG,... do for
// others. Specs that need faults which only local clusters can play have the label `local`.
package e2e
