// Command sbom prints the bill of materials of a Go program as CycloneDX JSON: the modules
// that are linked into it, with the versions and hashes that the linker recorded.
//
//	sbom bin/netsim
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: sbom PROGRAM")
		os.Exit(2)
	}
	if err := print(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func print(program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	bom := cyclonedx.NewBOM()
	subject := cyclonedx.Component{BOMRef: info.Main.Path, Type: cyclonedx.ComponentTypeApplication, Name: info.Main.Path, Version: version(info)}
	bom.Metadata = &cyclonedx.Metadata{Component: &subject}
	parts := []cyclonedx.Component{{
		BOMRef: "go", Type: cyclonedx.ComponentTypeLibrary, Name: "Go standard library",
		Version: strings.TrimPrefix(info.GoVersion, "go"), PackageURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"),
	}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		if strings.HasPrefix(m.Path, ".") {
			continue // of this repository, such as the SDK, and so of the program itself
		}
		part, err := component(m)
		if err != nil {
			return err
		}
		parts = append(parts, part)
	}
	bom.Components = &parts
	refs := make([]string, len(parts))
	for i := range parts {
		refs[i] = parts[i].BOMRef
	}
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: subject.BOMRef, Dependencies: &refs}}
	return cyclonedx.NewBOMEncoder(os.Stdout, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}

func component(m *debug.Module) (cyclonedx.Component, error) {
	url := "pkg:golang/" + m.Path + "@" + m.Version
	c := cyclonedx.Component{BOMRef: url, Type: cyclonedx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: url}
	if sum, ok := strings.CutPrefix(m.Sum, "h1:"); ok {
		digest, err := base64.StdEncoding.DecodeString(sum)
		if err != nil {
			return c, fmt.Errorf("the hash of %s: %w", m.Path, err)
		}
		// It is the SHA-256 of the list of the module's files with their hashes.
		c.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(digest)}}
	}
	return c, nil
}

// version returns the commit that the program was built from, or "" if it is unknown.
func version(info *debug.BuildInfo) string {
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
