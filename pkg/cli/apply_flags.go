package cli

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

// Environment variables that Fleet's own CLI has too.
const (
	envNamespace   = "NAMESPACE"
	envCommit      = "COMMIT"
	envUsername    = "HELM_USERNAME"
	envConcurrency = "FLEET_BUNDLE_CREATION_MAX_CONCURRENCY"
	envTries       = "FLEET_APPLY_CONFLICT_RETRIES"
	envKnownHosts  = "FLEET_KNOWN_HOSTS"
)

const (
	defaultConcurrency = 4
	// defaultTries is more than Fleet's 1, with which the first conflict is the last.
	defaultTries = 5
	// maxDebugLevel is what prints requests without what is in them: Secrets.
	maxDebugLevel = 6
)

// directoryFlags say how directories become bundles.
var directoryFlags = []string{
	"targets-file", "compress", "service-account", "sync-generation", "target-namespace", "paused", "keep-resources",
	"delete-namespace", "correct-drift", "correct-drift-force", "correct-drift-keep-fail-history", "driven-scan", "lenient",
}

func (o *applyOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.namespace, "namespace", "n", "", `namespace of the bundles (default $NAMESPACE, else "`+defaultNamespace+`")`)
	f.StringVarP(&o.file, "file", "f", "", "options file in each PATH to read in place of its fleet.yaml; a file of Bundles, or -, is taken as with --bundle-file")
	f.StringVarP(&o.bundleFile, "bundle-file", "b", "", "file of Bundles, or - for the standard input, to write in place of what directories become; an options file is taken as with --file")
	f.StringVarP(&o.output, "output", "o", "", "write the bundles into this file, or to the standard output for -, and not to a hub")
	f.StringToStringVarP(&o.label, "label", "l", nil, "labels of the bundles, such as fleet.cattle.io/repo-name=shop; those of a fleet.yaml win")
	f.StringVar(&o.targetsFile, "targets-file", "", "file with targets and targetRestrictions to add to those of each fleet.yaml")
	f.BoolVarP(&o.compress, "compress", "c", false, "compress every file in the bundles; otherwise only what is no text, or too large")
	f.StringVarP(&o.serviceAccount, "service-account", "a", "", "service account that the bundles are deployed with")
	f.Int64Var(&o.syncGeneration, "sync-generation", 0, "another number deploys the bundles again though nothing changed")
	f.StringVar(&o.targetNamespace, "target-namespace", "", "namespace that all objects of the bundles must be in")
	f.BoolVar(&o.paused, "paused", false, "pause the bundles: nothing of them is rolled out")
	f.StringVar(&o.commit, "commit", "", "commit to label the bundles with (default $COMMIT, else HEAD of the git repository that the working directory is in)")
	f.BoolVar(&o.keepResources, "keep-resources", false, "leave the objects on the clusters when the bundles are deleted")
	f.BoolVar(&o.deleteNamespace, "delete-namespace", false, "delete the namespace of the release with it")
	f.BoolVar(&o.correctDrift.Enabled, "correct-drift", false, "undo changes that others make to the objects on the clusters")
	f.BoolVar(&o.correctDrift.Force, "correct-drift-force", false, "with --correct-drift: replace objects that cannot be changed")
	f.BoolVar(&o.correctDrift.KeepFailHistory, "correct-drift-keep-fail-history", false, "with --correct-drift: keep the Helm history of failed corrections")
	f.BoolVar(&o.drivenScan, "driven-scan", false, "take each PATH as one bundle and none below it; PATH can be DIRECTORY:FILE with a file of options in the directory")
	f.StringVar(&o.drivenScanSep, "driven-scan-sep", ":", "with --driven-scan: what stands between directory and file")
	f.IntVar(&o.concurrency, "bundle-creation-max-concurrency", defaultConcurrency, "how many bundles are written to the hub at a time (default also $"+envConcurrency+")")
	f.BoolVar(&o.lenient, "lenient", false, "warn of unknown fields in a fleet.yaml, which otherwise are errors")
	f.BoolVar(&o.empty, "allow-empty", false, "if there is no bundle at all, delete those that were there before; otherwise that is an error")
	f.StringVar(&o.ociRegistrySecret, "oci-registry-secret", "", "accepted for scripts, without effect: the hub keeps what bundles contain itself")
	f.BoolVar(&o.imagescan, "imagescan-enabled", false, "accepted for scripts, without effect: images are not scanned here")
	f.BoolVar(&o.debug, "debug", false, "print every request to the hub")
	f.IntVar(&o.debugLevel, "debug-level", maxDebugLevel, "with --debug: verbosity of the client library, at most 6, because more would print Secrets")
	o.charts.add(f)
	cmd.MarkFlagsMutuallyExclusive("file", "bundle-file")
}

// complete takes from the environment what the flags do not say.
func (o *applyOptions) complete(f *pflag.FlagSet) error {
	fromEnv := func(flag, name string, into *string) {
		if !f.Changed(flag) {
			*into = os.Getenv(name)
		}
	}
	fromEnv("namespace", envNamespace, &o.namespace)
	fromEnv("commit", envCommit, &o.commit)
	fromEnv("username", envUsername, &o.charts.username)
	if !f.Changed("username") && o.charts.passwordFile == "" {
		// The variable may be there for somebody else.
		o.charts.username = ""
	}
	f.Visit(func(flag *pflag.Flag) {
		if slices.Contains(directoryFlags, flag.Name) {
			o.ofDirectories = append(o.ofDirectories, flag.Name)
		}
	})
	if o.namespace == "" {
		o.namespace, o.namespaceIsDefault = defaultNamespace, true
	}
	if text := os.Getenv(envConcurrency); text != "" && !f.Changed("bundle-creation-max-concurrency") {
		var err error
		if o.concurrency, err = numberIn(envConcurrency, text); err != nil {
			return err
		}
	}
	if o.concurrency < 1 {
		// As Fleet does.
		o.concurrency = defaultConcurrency
	}
	return nil
}

// triesFromEnv is how often a bundle is tried at all, as Fleet counts.
func triesFromEnv() (int, error) {
	text := os.Getenv(envTries)
	if text == "" {
		return defaultTries, nil
	}
	return numberIn(envTries, text)
}

func numberIn(name, text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("the environment variable %s is %q: want a number", name, text)
	}
	return n, nil
}

// warnings are about flags that do nothing.
func (o *applyOptions) warnings() []string {
	var out []string
	if o.ociRegistrySecret != "" {
		out = append(out, "--oci-registry-secret has no effect: the hub keeps what bundles contain itself, and needs no registry.")
	}
	if o.imagescan {
		out = append(out, "--imagescan-enabled has no effect: images are not scanned here; let a tool of the repository update them.")
	}
	return out
}

// verbose lets the client library say what it asks of the hub.
func (o *applyOptions) verbose() error {
	if !o.debug {
		return nil
	}
	logging := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(logging)
	return logging.Set("v", strconv.Itoa(max(0, min(o.debugLevel, maxDebugLevel))))
}
