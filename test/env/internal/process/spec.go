package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Spec says how to start one program.
type Spec struct {
	// Name is unique among the running programs of a Runner, such as "dev/kube-apiserver".
	Name string
	Path string
	Args []string
	// Env is the whole environment; nil means that of this process.
	Env []string
	Dir string
	// Log is the file that standard output and error are appended to.
	Log string
	// Grace is the time between SIGTERM and SIGKILL; 0 means 5 s.
	Grace time.Duration
}

const defaultGrace = 5 * time.Second

func (s Spec) grace() time.Duration {
	if s.Grace > 0 {
		return s.Grace
	}
	return defaultGrace
}

// command builds the command in a process group of its own, which the kernel kills when the thread that starts it
// dies: see Runner for why that thread lives as long as this process.
func (s Spec) command() (*exec.Cmd, *os.File, error) {
	if err := os.MkdirAll(filepath.Dir(s.Log), 0o700); err != nil {
		return nil, nil, fmt.Errorf("log folder of %s: %w", s.Name, err)
	}
	log, err := os.OpenFile(s.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("log of %s: %w", s.Name, err)
	}
	cmd := exec.Command(s.Path, s.Args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = s.Env, s.Dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return cmd, log, nil
}
