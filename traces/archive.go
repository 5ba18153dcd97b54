package traces

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"netsim/events"
	"netsim/infra/objects"
	"netsim/simulator/chakra"
)

// Bounds of what archives unpack to.
const (
	maxUnpacked  = 500_000_000_000 // bytes of a traceset
	maxEntries   = 200_000         // of a traceset
	maxRatio     = 256             // of unpacked to packed bytes, past the first
	freeOfRatio  = 16 << 20        // bytes
	maxWindow    = 32 << 20        // of zstd
	maxEntryName = 255             // bytes, as of an uploaded file
	smallEntry   = 1 << 20         // bytes
	putsAtOnce   = 8               // of small entries
)

// archive is the content of a tar file, decompressed.
type archive struct {
	*tar.Reader

	name  string
	raw   *watcher  // the bytes as stored
	inner io.Reader // the bytes decompressed
	plain int64     // how many of inner were read
	first *tar.Header
	close func()
}

// openArchive opens a file as an archive, or returns nil when its content is
// none. The error is a refusal, or the store's.
func openArchive(name string, stored io.Reader) (*archive, error) {
	a := &archive{name: name, raw: &watcher{r: stored}, close: func() {}}
	buffered := bufio.NewReaderSize(a.raw, 64<<10)
	head, _ := buffered.Peek(4)
	var err error
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		a.inner, err = gzip.NewReader(buffered)
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		a.inner, err = newZstd(buffered)
	default:
		a.inner = buffered
	}
	if err == nil {
		a.Reader = tar.NewReader(bounded{a})
		a.first, err = a.Reader.Next()
	}
	switch {
	case a.raw.err != nil:
		return nil, a.raw.err
	case err != nil:
		return nil, nil //nolint:nilerr,nilnil // it is another kind of file
	}
	return a, nil
}

// newZstd decompresses in the goroutine that reads: nothing is left to close.
func newZstd(r io.Reader) (io.Reader, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
}

// bounded reads the decompressed bytes and refuses bombs.
type bounded struct{ *archive }

func (b bounded) Read(p []byte) (int, error) {
	n, err := b.inner.Read(p)
	b.plain += int64(n)
	switch {
	case b.plain > maxUnpacked:
		return 0, refuse(b.name, "the archive has more than %d bytes", int64(maxUnpacked))
	case b.plain > freeOfRatio && b.plain/maxRatio > b.raw.n:
		return 0, refuse(b.name, "the archive decompresses to more than %d times its size", maxRatio)
	}
	return n, err
}

// next returns the next entry, or io.EOF when the whole file has been read, so
// that a checksum at its end has been looked at.
func (a *archive) next() (*tar.Header, error) {
	if h := a.first; h != nil {
		a.first = nil
		return h, nil
	}
	h, err := a.Reader.Next()
	if !errors.Is(err, io.EOF) {
		return h, a.failure(err)
	}
	if _, err := io.Copy(io.Discard, bounded{a}); err != nil {
		return nil, a.failure(err)
	}
	return nil, io.EOF
}

// failure tells what is wrong with the archive from what is wrong with the
// store.
func (a *archive) failure(err error) error {
	known := new(refusal)
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case a.raw.err != nil:
		return fmt.Errorf("read %s: %w", a.name, a.raw.err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return refuse(a.name, "the archive ends in the middle")
	default:
		return refuse(a.name, "the archive cannot be read: %s", err.Error())
	}
}

// unpacking puts the files of a traceset into its library's folder.
type unpacking struct {
	store    *objects.Store
	folder   string
	names    map[string]bool // of what is there
	puts     errgroup.Group  // of small entries, under way
	entries  int
	bytes    int64
	ranks    map[string]*events.RankRange // by the archive
	warnings []string
}

// archive unpacks one archive.
func (u *unpacking) archive(ctx context.Context, a *archive) error {
	for {
		h, err := a.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if u.entries++; u.entries > maxEntries {
			return refuse(a.name, "there are more than %d entries in the archives", maxEntries)
		}
		if err := u.entry(ctx, a, h); err != nil {
			return err
		}
	}
}

// entry unpacks a rank file or the process groups. Folders are left out, and so
// is, with a warning, what is of no use.
func (u *unpacking) entry(ctx context.Context, a *archive, h *tar.Header) error {
	name := path.Base(h.Name)
	rank, notRank := chakra.RankOf(name)
	switch {
	case strings.HasPrefix(h.Name, "/"), slices.Contains(strings.Split(h.Name, "/"), ".."):
		return refuse(a.name, "entry %.100q leads out of the archive", h.Name)
	case h.Typeflag == tar.TypeDir, h.Typeflag == tar.TypeXGlobalHeader:
		return nil
	case h.Typeflag != tar.TypeReg:
		return refuse(a.name, "entry %.100q is no file but a link or a device", h.Name)
	case notRank != nil && name != groupsFile, !validName(name):
		u.warn("%s: entry %.100q is no rank file and is left out", a.name, h.Name)
		return nil
	case u.names[name]:
		return refuse(a.name, "entry %.100q is there already", h.Name)
	}
	if u.bytes += h.Size; u.bytes > maxUnpacked {
		return refuse(a.name, "the archives have more than %d bytes", int64(maxUnpacked))
	}
	if err := u.put(ctx, a, name, h.Size); err != nil {
		return err
	}
	u.names[name] = true
	if notRank == nil {
		u.hold(a.name, int64(rank))
	}
	return nil
}

// put stores an entry. Small ones are stored side by side, beside what is read
// on: a request each is what many of them cost.
func (u *unpacking) put(ctx context.Context, a *archive, name string, size int64) error {
	if size <= smallEntry {
		content, err := io.ReadAll(a.Reader)
		if err != nil {
			return a.failure(err)
		}
		u.puts.Go(func() error {
			_, err := u.store.Put(ctx, u.folder+name, contentType(name), bytes.NewReader(content))
			return err
		})
		return nil
	}
	content := &watcher{r: a.Reader}
	_, err := u.store.Put(ctx, u.folder+name, contentType(name), content)
	if content.err != nil {
		return a.failure(content.err)
	}
	return err
}

// hold notes that an archive holds a rank.
func (u *unpacking) hold(archive string, rank int64) {
	r := u.ranks[archive]
	if r == nil {
		r = &events.RankRange{File: archive, Start: rank, End: rank}
		u.ranks[archive] = r
	}
	r.Start, r.End = min(r.Start, rank), max(r.End, rank)
}

// copy puts a file beside those of the archives as it was uploaded.
func (u *unpacking) copy(ctx context.Context, f events.TracesetFile) error {
	if u.names[f.Name] {
		return refuse(f.Name, "the file is in an archive, too")
	}
	u.names[f.Name] = true
	return u.store.Copy(ctx, f.ObjectKey, u.folder+f.Name)
}

func (u *unpacking) warn(format string, args ...any) {
	if len(u.warnings) < chakra.MaxFindings {
		u.warnings = append(u.warnings, fmt.Sprintf(format, args...))
	}
}

// validName is the rule of uploaded files' names (completions.md 6.2).
func validName(name string) bool {
	const allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
	return len(name) <= maxEntryName && !strings.Contains(name, "..") && strings.Trim(name, allowed) == "" && name != "."
}

func contentType(name string) string {
	if strings.HasSuffix(name, ".json") {
		return "application/json"
	}
	return "application/octet-stream"
}
