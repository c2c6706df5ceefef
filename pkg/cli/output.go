package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// Formats that data can be printed in.
const (
	formatJSON = "json"
	formatYAML = "yaml"
)

// addOutputFlag adds -o, which prints data for scripts in place of text for people.
func addOutputFlag(cmd *cobra.Command, into *string, usage string) {
	cmd.Flags().StringVarP(into, "output", "o", "", usage)
	suggest(cmd, "output", fixed(formatJSON, formatYAML))
}

func checkOutput(format string) error {
	switch format {
	case "", formatJSON, formatYAML:
		return nil
	}
	return fmt.Errorf("--output %q: want json or yaml", format)
}

// printData writes data as json or yaml.
func printData(out io.Writer, what any, format string) error {
	data, err := json.MarshalIndent(what, "", "  ")
	if err == nil && format == formatYAML {
		data, err = yaml.JSONToYAML(data)
	}
	if err != nil {
		return fmt.Errorf("print as %s: %w", format, err)
	}
	if format == formatJSON {
		data = append(data, '\n')
	}
	_, err = out.Write(data)
	return err
}
