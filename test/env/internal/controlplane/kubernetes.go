package controlplane

import (
	"fmt"
	"strings"

	"open-cluster-management.io/fleet-addon/test/env/internal/process"
)

// APIServer is the cluster's kube-apiserver.
func (c Cluster) APIServer() process.Spec {
	return c.spec("kube-apiserver",
		"--etcd-servers="+c.Etcd, "--etcd-prefix=/"+c.Name,
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
		fmt.Sprintf("--secure-port=%d", c.Ports["api"]),
		"--tls-cert-file="+c.PKI.ServingCert(), "--tls-private-key-file="+c.PKI.ServingKey(),
		"--client-ca-file="+c.PKI.CA(), "--requestheader-client-ca-file="+c.PKI.CA(),
		"--requestheader-allowed-names=front-proxy-client", "--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group", "--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+c.PKI.AccountPub(), "--service-account-signing-key-file="+c.PKI.AccountKey(),
		"--authorization-mode=RBAC", fmt.Sprintf("--service-cluster-ip-range=10.9%d.%d.0/24", c.Index/256%10, c.Index%256),
		// Without the node lifecycle controller a new node would keep the taint that this plugin adds.
		"--allow-privileged=true", "--disable-admission-plugins=TaintNodesByCondition",
		"--enable-priority-and-fairness=false", "--profiling=false", "--event-ttl=15m", "--cert-dir="+c.PKI.Dir(),
		"--audit-policy-file="+c.file("audit-policy.yaml"), "--audit-log-path="+c.AuditLog(), "--audit-log-format=json",
		"--audit-log-maxsize=200", "--audit-log-maxbackup=2",
	)
}

var (
	commonControllers = []string{
		"serviceaccount", "serviceaccount-token", "root-ca-certificate-publisher", "namespace", "garbage-collector",
		"clusterrole-aggregation", "deployment", "replicaset", "job",
	}
	hubControllers     = []string{"certificatesigningrequest-signing", "certificatesigningrequest-cleaner"}
	managedControllers = []string{"statefulset", "daemonset", "pod-garbage-collector"}
)

// ControllerManager is the cluster's kube-controller-manager, with the controllers that something here needs. The hub
// has those of Deployments and Jobs too: helm's wait looks at ReplicaSets, and they count restarts and completions.
func (c Cluster) ControllerManager() process.Spec {
	names := append([]string{}, commonControllers...)
	if c.Hub {
		names = append(names, hubControllers...)
	} else {
		names = append(names, managedControllers...)
	}
	for i := range names {
		names[i] += "-controller"
	}
	return c.spec("kube-controller-manager",
		"--kubeconfig="+c.Kubeconfig(), "--leader-elect=false", "--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", c.Ports["controller-manager"]), "--cert-dir="+c.PKI.Dir(),
		"--cluster-signing-cert-file="+c.PKI.CA(), "--cluster-signing-key-file="+c.PKI.CAKey(),
		"--root-ca-file="+c.PKI.CA(), "--service-account-private-key-file="+c.PKI.AccountKey(),
		"--use-service-account-credentials=false", "--profiling=false", "--controllers="+strings.Join(names, ","),
	)
}

// Scheduler is the managed cluster's kube-scheduler.
func (c Cluster) Scheduler() process.Spec {
	return c.spec("kube-scheduler",
		"--kubeconfig="+c.Kubeconfig(), "--leader-elect=false", "--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", c.Ports["scheduler"]), "--cert-dir="+c.PKI.Dir(), "--profiling=false",
	)
}
