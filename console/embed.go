// Package console has the built files of the console, the web application for people, and
// serves them to browsers. They come from the sources beside them and are committed, so that
// building the service needs only Go.
//
// The files have stable names. They are served below the digest of all of them, so that a
// browser keeps them for ever and never mixes the files of two releases. The index is not
// kept. It says below which URL the application is, which the router in front may have
// extended by a prefix.
package console

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Dist returns the built files.
func Dist() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil { // the name is valid
		panic(err)
	}
	return files
}
