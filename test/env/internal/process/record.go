package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Record identifies one process for good: a pid alone is reused, a pid with its start time and the boot is not.
type Record struct {
	Name string `json:"name"`
	PID  int    `json:"pid"`
	// Start is the start time in clock ticks since boot, field 22 of /proc/PID/stat.
	Start uint64 `json:"start"`
	Boot  string `json:"boot"`
}

// NewRecord reads the identity of a running process.
func NewRecord(name string, pid int) (Record, error) {
	start, _, err := stat(pid)
	if err != nil {
		return Record{}, err
	}
	boot, err := bootID()
	if err != nil {
		return Record{}, err
	}
	return Record{Name: name, PID: pid, Start: start, Boot: boot}, nil
}

// Alive tells whether this very process runs; a zombie does not.
func (r Record) Alive() bool {
	boot, err := bootID()
	if err != nil || boot != r.Boot {
		return false
	}
	start, state, err := stat(r.PID)
	return err == nil && start == r.Start && state != 'Z' && state != 'X'
}

func (r Record) file(dir string) string { return filepath.Join(dir, strconv.Itoa(r.PID)+".json") }

func (r Record) write(dir string) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	temp := r.file(dir) + ".tmp"
	if err := os.WriteFile(temp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, r.file(dir))
}

// Records reads the records in dir; a missing folder has none.
func Records(dir string) ([]Record, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var records []Record
	for _, file := range files {
		data, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var r Record
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("process record %s is broken, remove it after a look at it: %w", file, err)
		}
		records = append(records, r)
	}
	return records, nil
}

// KillRecorded ends, with their process groups, the recorded processes that are still the recorded ones, waits until
// they are gone, removes the records, and returns the names of what it had to kill.
func KillRecorded(dir string, limit time.Duration) ([]string, error) {
	records, err := Records(dir)
	if err != nil {
		return nil, err
	}
	var killed []string
	for _, r := range records {
		if r.Alive() {
			killed = append(killed, r.Name)
			_ = syscall.Kill(-r.PID, syscall.SIGKILL)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for _, r := range records {
		ended := func(context.Context) (bool, error) { return !r.Alive(), nil }
		if err := wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, ended); err != nil {
			return killed, fmt.Errorf("process %d (%s) does not end after SIGKILL", r.PID, r.Name)
		}
		if err := os.Remove(r.file(dir)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return killed, err
		}
	}
	return killed, nil
}

func stat(pid int) (start uint64, state byte, err error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, err
	}
	return parseStat(string(data))
}

// parseStat reads start time and state. The second field is the program's name in parentheses, which may itself hold
// blanks and parentheses: everything is counted from the last one.
func parseStat(line string) (start uint64, state byte, err error) {
	end := strings.LastIndexByte(line, ')')
	fields := strings.Fields(line[end+1:])
	const stateField, startField = 0, 19
	if end < 0 || len(fields) <= startField {
		return 0, 0, fmt.Errorf("unexpected process stat line %q", line)
	}
	start, err = strconv.ParseUint(fields[startField], 10, 64)
	return start, fields[stateField][0], err
}

func bootID() (string, error) {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(data)), err
}
