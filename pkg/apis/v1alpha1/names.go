package v1alpha1

// Labels and annotations. Values that can exceed 63 characters are hashed in
// labels and stand in full in the annotation of the same meaning.
const (
	// LabelBundle is the bundle's name, on ManifestWorks, BundleDeployments, their
	// Secrets and the bundle's ControllerRevisions. Its presence marks a ManifestWork as
	// this add-on's.
	LabelBundle = GroupName + "/bundle"
	// LabelBundleNamespace is the bundle's namespace, beside LabelBundle.
	LabelBundleNamespace = GroupName + "/bundle-namespace"
	// LabelRolloutPolicy, on a Bundle, names the RolloutPolicy that governs it; on
	// a Namespace the value "required" holds every bundle without one.
	LabelRolloutPolicy = GroupName + "/rollout-policy"
	// RolloutPolicyRequired is the value of LabelRolloutPolicy on a Namespace.
	RolloutPolicyRequired = "required"
	// LabelAddOnReady, on a ManifestWork, changes when the cluster's add-on becomes
	// ready: the work agent then tries a work again at once that it could not apply.
	LabelAddOnReady = GroupName + "/addon-ready"

	// AnnotationBundle is "namespace/name" of the bundle, never cut.
	AnnotationBundle = GroupName + "/bundle"
	// AnnotationCluster, on a BundleDeployment that fleetctl prints, is the ManagedCluster
	// that it is for: those of one bundle have the same name for every cluster.
	AnnotationCluster = GroupName + "/cluster"
	// AnnotationID is the admitted deployment id of a ManifestWork.
	AnnotationID = GroupName + "/id"
	// AnnotationRevision is the bundle revision that the admitted id comes from; on a
	// ControllerRevision the one that it holds, beside its number in `revision`.
	AnnotationRevision = GroupName + "/revision"
	// AnnotationCommit, on a ControllerRevision, is the commit that the bundle was made
	// from when it had this revision; not there if the Bundle did not say.
	AnnotationCommit = GroupName + "/commit"
	// AnnotationAdmission is the token of the work's current admission.
	AnnotationAdmission = GroupName + "/admission"
	// AnnotationLane and AnnotationGroup say where the work was admitted.
	AnnotationLane  = GroupName + "/lane"
	AnnotationGroup = GroupName + "/group"
	// AnnotationState holds the rollout's stamps as one JSON document.
	AnnotationState = GroupName + "/state"
	// AnnotationHash is the hash of all that the manager wrote into the work's
	// spec; equal hashes mean that nothing has to be written.
	AnnotationHash = GroupName + "/hash"
	// AnnotationClusterValues, on a ManagedCluster, is a map as YAML or JSON: what
	// templates of bundles know as ClusterValues. It lies over the customized variables
	// of the add-on's AddOnDeploymentConfig.
	AnnotationClusterValues = GroupName + "/cluster-values"
	// AnnotationKeepBundles, on a ManagedClusterAddOn, lets it go without the
	// bundles of its cluster: their works and releases stay. Written on uninstall.
	AnnotationKeepBundles = GroupName + "/keep-bundles"

	// FinalizerBundles, on a ManagedClusterAddOn, keeps the agent until the
	// cluster's bundles are gone.
	FinalizerBundles = GroupName + "/bundles"

	// AddOnName is the name of the ClusterManagementAddOn and of every
	// ManagedClusterAddOn.
	AddOnName = "fleet"
)

// Conditions of the ManagedClusterAddOn `fleet` that the agent owns. `Available`
// comes from its lease.
const (
	// AddOnBundlesReady is True while every bundle on the cluster is ready.
	AddOnBundlesReady = "BundlesReady"
	// AddOnDegraded is True while a bundle on the cluster failed.
	AddOnDegraded = "Degraded"
	// AddOnDrained is True once the add-on is being deleted and no BundleDeployment
	// and no release of ours is left on the cluster. Nothing is installed then.
	AddOnDrained = "Drained"
)
