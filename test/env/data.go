package env

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"open-cluster-management.io/fleet-addon/test/env/internal/process"
)

// prepare ends what a killed supervisor could have left. Data of an environment that was up once is started again, with
// the options it had; data of a start that was never completed is removed.
func prepare(o Options, out io.Writer) (Options, error) {
	killed, err := process.KillRecorded(Records(o.Dir), 10*time.Second)
	for _, name := range killed {
		fmt.Fprintf(out, "env: ended %s, left from before\n", name)
	}
	if err != nil {
		return o, err
	}
	description, err := Load(o.Dir)
	earlier, earlierErr := LoadOptions(o.Dir)
	if err != nil || earlierErr != nil || description.Phase != PhaseUp && description.Phase != PhaseStopped {
		return o.withDefaults(), removeData(o.Dir)
	}
	if o.differs(earlier) {
		return o, fmt.Errorf("the data in %s is of other clusters (%v, set %s, lease %s): `env down` removes it",
			o.Dir, earlier.Clusters, earlier.ClusterSet, earlier.Lease)
	}
	fmt.Fprintf(out, "env: starting again on the data in %s\n", o.Dir)
	earlier.Timeout = o.Timeout
	if o.Binary != "" {
		earlier.Binary = o.Binary
	}
	return earlier.withDefaults(), nil
}

// removeData removes all in dir but the lock.
func removeData(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if path == LockFile(dir) {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("remove the data of the environment: %w", err)
		}
	}
	return nil
}

// owned refuses a folder that has files but is no state directory: Up and Down remove what is in it.
func owned(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(LockFile(dir)); err != nil {
		return fmt.Errorf("%s has files and is not the state directory of an environment: give an empty or new --dir", dir)
	}
	return nil
}
