package telemetry

import "runtime/debug"

// Release is the version of this release, the first one in docs/changelog.md.
const Release = "0.3.0"

// Build identifies the running build.
type Build struct {
	Version string // Release
	Commit  string // unknown if built without version control; ends in -dirty if there were uncommitted changes
	Go      string // version of the toolchain
}

// ReadBuild returns the build information that the Go toolchain stored in the
// binary.
func ReadBuild() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Build{Version: Release, Commit: "unknown", Go: "unknown"}
	}
	return buildOf(info)
}

func buildOf(info *debug.BuildInfo) Build {
	b := Build{Version: Release, Commit: "unknown", Go: info.GoVersion}
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
