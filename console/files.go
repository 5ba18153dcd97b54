package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

// Files serves the built files of the console.
type Files struct {
	digest string
	index  file
	assets map[string]file // by name
	gzip   compressor
}

// What the index has in place of its URL and of the URL of its files.
const (
	indexBase   = `data-base="./"`
	indexAssets = `"./assets/`
)

// Load reads the built files: index.html, and what is in the folder assets. The prefix is
// that of the URL by which browsers reach the service, such as /prefix, or "".
func Load(built fs.FS, prefix string) (*Files, error) {
	f := &Files{assets: map[string]file{}}
	var index []byte
	digest := sha256.New()
	err := fs.WalkDir(built, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(built, name)
		if err != nil {
			return err
		}
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(content)))
		for _, part := range [][]byte{[]byte(name), {0}, size[:], content} {
			digest.Write(part)
		}
		asset, isAsset := strings.CutPrefix(name, "assets/")
		switch {
		case name == "index.html":
			index = content
			return nil
		case !isAsset || strings.Contains(asset, "/"):
			return errors.New("it is neither index.html nor in the folder assets")
		}
		f.assets[asset], err = f.newFile(asset, content)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the built files of the console: %w", err)
	}
	f.digest = hex.EncodeToString(digest.Sum(nil)[:8])
	base := prefix + "/console/"
	if bytes.Count(index, []byte(indexBase)) != 1 {
		return nil, fmt.Errorf("the index of the console has not exactly one %s", indexBase)
	}
	index = bytes.ReplaceAll(index, []byte(indexBase), []byte(`data-base="`+base+`"`))
	index = bytes.ReplaceAll(index, []byte(indexAssets), []byte(`"`+base+"assets/"+f.digest+"/"))
	f.index, err = f.newFile("index.html", index)
	return f, err
}

// Index serves the page of the application.
func (f *Files) Index(w http.ResponseWriter, r *http.Request) {
	f.index.serve(w, r, "no-cache") // the browser asks whether its copy is the current one
}

// Asset serves a file of the release with the digest. It returns false if there is none,
// because the page is of another release.
func (f *Files) Asset(w http.ResponseWriter, r *http.Request, digest, name string) bool {
	asset, exists := f.assets[name]
	if !exists || digest != f.digest {
		return false
	}
	asset.serve(w, r, "public, max-age=31536000, immutable")
	return true
}

// file is a file as it is sent.
type file struct {
	contentType, tag string
	content          []byte
	compressed       func() []byte // by gzip, once, at the first request; nil if that is not smaller
}

// typeOf returns the media type of a file by the extension of its name. The table of the
// operating system is not used, because it differs from machine to machine.
func typeOf(name string) (string, bool) {
	known, ok := map[string]string{
		".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
		".svg": "image/svg+xml", ".png": "image/png", ".webp": "image/webp", ".ico": "image/x-icon", ".woff2": "font/woff2",
		".json": "application/json", ".wasm": "application/wasm", ".txt": "text/plain; charset=utf-8",
	}[path.Ext(name)]
	return known, ok
}

func (f *Files) newFile(name string, content []byte) (file, error) {
	contentType, known := typeOf(name)
	if !known {
		return file{}, fmt.Errorf("%s has an unknown type", name)
	}
	sum := sha256.Sum256(content)
	return file{
		contentType: contentType, tag: hex.EncodeToString(sum[:16]), content: content,
		compressed: sync.OnceValue(func() []byte { return f.gzip.compress(content) }),
	}, nil
}

// compressor compresses one file after the other, because each writer of gzip takes almost
// a megabyte and a first session asks for many files at once.
type compressor struct {
	mu     sync.Mutex
	writer *gzip.Writer // nil before the first file
	small  bytes.Buffer
}

// compress returns the content by gzip, or nil if that is not smaller.
func (c *compressor) compress(content []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.small.Reset()
	if c.writer == nil {
		c.writer, _ = gzip.NewWriterLevel(&c.small, gzip.BestCompression) // fails for unknown levels only
	}
	c.writer.Reset(&c.small)
	_, err := c.writer.Write(content)
	if err = errors.Join(err, c.writer.Close()); err != nil || c.small.Len() >= len(content) {
		return nil
	}
	return bytes.Clone(c.small.Bytes())
}

func (f *file) serve(w http.ResponseWriter, r *http.Request, keep string) {
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", keep)
	h.Add("Vary", "Accept-Encoding")
	content, tag := f.content, f.tag
	if takesGzip(r.Header.Values("Accept-Encoding")) {
		if small := f.compressed(); small != nil {
			content, tag = small, tag+"-gzip"
			h.Set("Content-Encoding", "gzip")
		}
	}
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// takesGzip reports whether a request accepts content that is compressed by gzip.
func takesGzip(accept []string) bool {
	for element := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		coding, parameters, _ := strings.Cut(element, ";")
		weight := strings.ReplaceAll(parameters, " ", "")
		if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			return strings.Trim(weight, "q=0.") != "" || weight == ""
		}
	}
	return false
}
