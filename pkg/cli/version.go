package cli

import (
	"runtime/debug"
	"strings"
)

// commit that the binary was built from; make and the Dockerfile set it at link time,
// because they build without Go's own stamp.
var commit string

// version says which build this is: the version of the Go module, the commit and
// the version of Go, as far as they are known.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return describeBuild(&debug.BuildInfo{}, commit)
	}
	return describeBuild(info, commit)
}

// describeBuild puts together what a build says of itself.
func describeBuild(info *debug.BuildInfo, commit string) string {
	parts := []string{info.Main.Version}
	if info.Main.Version == "" {
		parts[0] = "unknown"
	}
	dirty := false
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && commit == "":
			commit = s.Value
		case s.Key == "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	if commit != "" {
		text := "commit " + commit
		if dirty {
			text += " with changes"
		}
		parts = append(parts, text)
	}
	if info.GoVersion != "" {
		parts = append(parts, info.GoVersion)
	}
	return strings.Join(parts, ", ")
}
