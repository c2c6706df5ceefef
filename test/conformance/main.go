package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// limit for one run of the command, which takes a fraction of a second.
const limit = time.Minute

func main() {
	fleetctl := flag.String("fleetctl", "bin/fleetctl", "the command to run")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: conformance [--fleetctl PATH] DIR\n\nDIR has bundles/CASE/{input/,case.yaml,expected.yaml} in it.")
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	failed, err := run(os.Stdout, *fleetctl, flag.Arg(0), intended)
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(2)
	}
	if failed {
		os.Exit(1)
	}
}

// run compares all cases and tells about each.
func run(out io.Writer, fleetctl, dir string, intended []intention) (failed bool, err error) {
	fleetctl, err = filepath.Abs(fleetctl)
	if err != nil {
		return false, err
	}
	all, err := cases(dir)
	if err != nil {
		return false, err
	}
	// A home without any configuration: nothing of who runs this has a say.
	home, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(home)
	var found []difference
	for _, c := range all {
		differences, err := c.check(fleetctl, home)
		if err != nil {
			return false, fmt.Errorf("case %s: %w", c.Name, err)
		}
		found = append(found, differences...)
	}
	unintended, stale := judge(intended, found)
	return report(out, all, unintended, stale, len(found)-len(unintended)), nil
}

// check runs the command of a case and compares.
func (c testCase) check(fleetctl, home string) ([]difference, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, fleetctl, c.Args...)
	cmd.Dir = filepath.Join(c.dir, "input")
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "COMMIT=0000000"}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	if status := cmd.ProcessState.ExitCode(); status != c.Exit {
		return []difference{{Case: c.Name, Object: "exit status", Field: "exit", Fleet: fmt.Sprint(c.Exit),
			Ours: fmt.Sprintf("%d, %s", status, bytes.TrimSpace(stderr.Bytes()))}}, nil
	}
	fleet, err := c.expected()
	if err != nil {
		return nil, err
	}
	ours, err := parse(stdout.Bytes())
	if err != nil {
		return nil, fmt.Errorf("what %s printed: %w", fleetctl, err)
	}
	return compare(c.Name, fleet, ours), nil
}

// report prints a line for each case and closes with how many passed.
func report(out io.Writer, all []testCase, unintended []difference, stale []intention, meant int) (failed bool) {
	of := map[string][]difference{}
	for _, d := range unintended {
		of[d.Case] = append(of[d.Case], d)
	}
	for _, c := range all {
		if len(of[c.Name]) == 0 {
			fmt.Fprintf(out, "ok    %s\n", c.Name)
			continue
		}
		fmt.Fprintf(out, "FAIL  %s\n", c.Name)
		for _, d := range of[c.Name] {
			fmt.Fprintf(out, "    %s\n", d)
		}
	}
	for _, i := range stale {
		fmt.Fprintf(out, "FAIL  no case shows this intended difference any more, take it out of intended.go: %s\n", i)
	}
	fmt.Fprintf(out, "%d intended differences\n%d passed, %d failed\n", meant, len(all)-len(of), len(of)+len(stale))
	return len(of)+len(stale) > 0
}
