package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"open-cluster-management.io/fleet-addon/pkg/simulate"
)

// Progress of a long simulation is shown first after progressAfter and then again
// after each progressEvery.
const (
	progressAfter = 3 * time.Second
	progressEvery = 2 * time.Second
)

// simulateOptions are the flags of `rollout simulate`.
type simulateOptions struct {
	files       []string
	output      string
	seed        int64
	until, step time.Duration
	summary     bool
	quiet, full bool
}

func newSimulateCommand(streams genericclioptions.IOStreams) *cobra.Command {
	o := simulateOptions{}
	cmd := &cobra.Command{
		Use:   "simulate -f FILE...",
		Short: "Play a rollout without a cluster, and see how long it takes and what is down meanwhile",
		Long: `Play a rollout without a cluster, and see how long it takes and what is down meanwhile.

The files hold a Bundle and what orders its rollout: RolloutPolicies, Placements,
ClusterGroups, a ClusterManagementAddOn, ManagedClusters. A document of the kind
Simulation lists clusters and says what happens to them. The planner is the hub's own.

The exit status is 0 when the rollout is complete, 1 when it is stopped by more
failures than a group tolerates, 2 when it is held, was not finished, or passed with
failures that the groups tolerate, and 3 when the files cannot be read.`,
		Example: `  # One of the examples
  fleetctl rollout simulate -f examples/simulate/partitions.yaml

  # A policy and its Placement from the hub, with a script of one's own
  fleetctl rollout simulate -f examples/dev-stg-prod -f script.yaml --summary`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("%q: name files with -f", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			run := simulate.Options{Until: o.until, Step: o.step}
			if cmd.Flags().Changed("seed") {
				run.Seed = &o.seed
			}
			return o.run(cmd.Context(), streams, run)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVarP(&o.files, "filename", "f", nil, "a file with YAML documents, a directory with such files, or - for the standard input; can be repeated")
	addOutputFlag(cmd, &o.output, "json or yaml: print the whole report instead of text")
	flags.Int64Var(&o.seed, "seed", 1, "seed of everything random; given, it wins over the files'")
	flags.DurationVar(&o.until, "until", 0, "simulated time at which to stop at the latest (the files', else 24h)")
	flags.DurationVar(&o.step, "step", 0, "all times are rounded up to this; a longer one is faster (unset: 1s, with more than 2,000 clusters 1s for each 1,000)")
	flags.BoolVar(&o.summary, "summary", false, "print no timeline")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "print one line")
	flags.BoolVar(&o.full, "full", false, "print every line of the timeline instead of one for each run of the same")
	_ = cmd.MarkFlagRequired("filename")
	cmd.MarkFlagsMutuallyExclusive("summary", "quiet", "full")
	return cmd
}

// run reads, plays and prints.
func (o *simulateOptions) run(ctx context.Context, streams genericclioptions.IOStreams, run simulate.Options) error {
	if err := checkOutput(o.output); err != nil {
		return err
	}
	if o.step < 0 || o.until < 0 {
		return errors.New("--step and --until must not be negative")
	}
	files := &simulate.Files{}
	var errs []error
	for _, name := range o.files {
		errs = append(errs, readInto(files, name, streams.In))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	scenario, err := files.Scenario()
	if err != nil {
		return err
	}
	run.Progress = progress(streams.ErrOut)
	report, err := scenario.Run(ctx, run)
	if err != nil {
		return err
	}
	if err := o.print(streams.Out, report); err != nil {
		return err
	}
	return simulated(report.End)
}

// readInto reads a file, every YAML file of a directory in name order, or the
// standard input.
func readInto(files *simulate.Files, name string, in io.Reader) error {
	if name == "-" {
		data, err := io.ReadAll(in)
		if err != nil {
			return fmt.Errorf("read the standard input: %w", err)
		}
		return files.Read("standard input", data)
	}
	names := []string{name}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		if names, err = filepath.Glob(filepath.Join(name, "*.y*ml")); err != nil {
			return err
		}
		if len(names) == 0 {
			return fmt.Errorf("%s: no .yaml file in the directory", name)
		}
		slices.Sort(names)
	}
	var errs []error
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err == nil {
			err = files.Read(name, data)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// progress tells now and then how far a long run is.
func progress(out io.Writer) func(simulate.Progress) {
	next := time.Now().Add(progressAfter)
	return func(p simulate.Progress) {
		if now := time.Now(); now.After(next) {
			next = now.Add(progressEvery)
			fmt.Fprintf(out, "simulated %s: %d of %d clusters done, %d plans\n", p.At, p.Done, p.Total, p.Plans)
		}
	}
}

// print writes a report as text, json or yaml.
func (o *simulateOptions) print(out io.Writer, r *simulate.Report) error {
	switch {
	case o.output == "" && o.quiet:
		_, err := fmt.Fprintln(out, r.Headline())
		return err
	case o.output == "":
		return r.Write(out, simulate.TextOptions{NoTimeline: o.summary, Full: o.full})
	}
	printed := *r
	if o.summary || o.quiet {
		printed.Timeline = nil
	}
	return printData(out, &printed, o.output)
}

// simulated is the exit status after a report was printed.
func simulated(end simulate.End) error {
	switch end {
	case simulate.EndComplete:
		return nil
	case simulate.EndBreached:
		return exitNo
	case simulate.EndPassed, simulate.EndHeld, simulate.EndUnfinished:
	}
	return exitUnderWay
}
