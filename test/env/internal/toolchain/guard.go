package toolchain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// GuardCommand is the hidden subcommand that runs Guard.
const GuardCommand = "guard"

// guarded runs a program under this program's own guard subcommand, so that a kill -9 of the builder ends the whole
// tree of go, compile and link: the guard sees its standard input close.
func guarded(ctx context.Context, name string, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, append([]string{GuardCommand, "--", name}, args...)...)
	// Own group: a Ctrl-C in the terminal reaches the builder alone, which then closes the pipe.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	lifeline, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	cmd.Cancel = lifeline.Close
	cmd.WaitDelay = 10 * time.Second
	return cmd, nil
}

// Guard runs a command in its own process group and kills the group as soon as standard input ends. It returns the
// command's exit code.
func Guard(args []string) (int, error) {
	if len(args) == 0 {
		return 2, errors.New("guard needs a command")
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return 1, fmt.Errorf("start %s: %w", args[0], err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}()
	err := cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), nil
	}
	return 0, err
}
