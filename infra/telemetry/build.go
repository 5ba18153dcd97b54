package telemetry

import "runtime/debug"

// Build identifies the running build.
type Build struct {
	Version string // version of the module; devel if built from a working tree
	Commit  string // unknown if built without version control; ends in -dirty if there were uncommitted changes
	Go      string // version of the toolchain
}

// ReadBuild returns the build information that the Go toolchain stored in the
// binary.
func ReadBuild() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Build{Version: "devel", Commit: "unknown", Go: "unknown"}
	}
	return buildOf(info)
}

func buildOf(info *debug.BuildInfo) Build {
	b := Build{Version: info.Main.Version, Commit: "unknown", Go: info.GoVersion}
	if b.Version == "" || b.Version == "(devel)" {
		b.Version = "devel"
	}
	dirty := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	if dirty {
		b.Commit += "-dirty"
	}
	return b
}
